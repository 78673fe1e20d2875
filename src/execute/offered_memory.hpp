// Memory that the first rank of a node makes and offers to the others in an agreement. Whether all could map it, the next
// agreement tells; until then nobody uses it.
#pragma once

#include <cstdint>
#include <span>

#include "execute/node_exchange.hpp"
#include "transport/shared_memory.hpp"

namespace shoal {

class offered_memory {
 public:
  // `room_for`: as those of node_exchange::room.
  using room_for = node_exchange::room (*)(std::size_t most, int ranks);
  explicit offered_memory(room_for size) : size_(size) {}

  // What ranks say of an offer in an agreement, in which the largest is heard: the first rank everything, others nothing.
  static constexpr std::size_t terms = 5;

  // Seconds, about, that the first rank takes to make it for exchanges in which a rank sends at most so many bytes, and that
  // every rank takes to map it and to make what uses it.
  double usual_time_to_make(std::size_t most, int ranks) const;
  static constexpr double usual_time_to_map = 140e-6;
  // For exchanges in which a rank sends at most so many bytes. By the first rank; what went wrong is among the terms.
  void make(std::size_t most, int ranks, std::span<std::int64_t> said);
  static bool is_made(std::span<const std::int64_t> heard);
  // By every rank, the first one included.
  void map(std::size_t most, int ranks, int rank, std::span<const std::int64_t> heard);
  void drop() { memory_ = {}; }

  bool is_mapped() const { return mapped_for_ > 0; }
  // What this rank says when all are to know whether it is everyone's: the number of an error, and whether it cannot read
  // the first rank's memory directly.
  std::int64_t error() const { return error_; }
  bool is_unreadable() const { return unreadable_; }
  // The memory, with the largest of what all said.
  node_exchange::mapped take(std::int64_t error, bool unreadable);
  // For exchanges of so many bytes it was everyone's; 0: it never was.
  std::size_t shared_for() const { return shared_for_; }

 private:
  std::size_t bytes_for(std::size_t most, int ranks) const { return size_(most, ranks).bytes(ranks); }

  room_for size_;
  shared_memory memory_;
  std::size_t mapped_for_ = 0, shared_for_ = 0;
  node_exchange::room mapped_as_;
  std::int64_t error_ = 0;
  bool unreadable_ = false;
};

}  // namespace shoal
