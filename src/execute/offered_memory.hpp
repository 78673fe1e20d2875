// Memory that the first rank of a node makes, and offers to the others in an agreement. The next agreement tells
// whether all ranks could map the memory; until then nobody uses it.
#pragma once

#include <cstdint>
#include <span>

#include "execute/node_exchange.hpp"
#include "transport/shared_memory.hpp"

namespace shoal {

class offered_memory {
 public:
  // Gives the size of the memory, such as node_exchange::room::of_schedules.
  using room_for = node_exchange::room (*)(std::size_t most, int ranks);
  explicit offered_memory(room_for size) : size_(size) {}

  // The number of values that describe an offer in an agreement. Only the first rank gives them; all ranks hear the
  // largest of each.
  static constexpr std::size_t terms = 5;

  // usual_time_to_make: about how many seconds the first rank takes to make the memory, for exchanges in which a rank
  // sends at most `most` bytes. usual_time_to_map: how many every rank takes to map the memory and to make what uses
  // it.
  double usual_time_to_make(std::size_t most, int ranks) const;
  static constexpr double usual_time_to_map = 140e-6;
  // Called by the first rank: makes the memory for exchanges in which a rank sends at most `most` bytes. If that fails,
  // the error is among the terms in `said`.
  void make(std::size_t most, int ranks, std::span<std::int64_t> said);
  static bool is_made(std::span<const std::int64_t> heard);
  // Called by every rank, the first one included.
  void map(std::size_t most, int ranks, int rank, std::span<const std::int64_t> heard);
  void drop() {
    memory_ = {};
    mapped_for_ = 0;
  }

  bool is_mapped() const { return mapped_for_ > 0; }
  // What this rank says in the agreement that tells whether all ranks have the memory: the number of its error, and
  // whether it cannot read the first rank's own memory.
  std::int64_t error() const { return error_; }
  bool is_unreadable() const { return unreadable_; }
  // Hands out the memory. `error` and `unreadable` are the largest of what all ranks said.
  node_exchange::mapped take(std::int64_t error, bool unreadable);
  // For exchanges of how many bytes all ranks last had the memory; 0 if they never had any.
  std::size_t largest_exchange() const { return largest_exchange_; }

 private:
  std::size_t bytes_for(std::size_t most, int ranks) const { return size_(most, ranks).bytes(ranks); }

  room_for size_;
  shared_memory memory_;
  std::size_t mapped_for_ = 0, largest_exchange_ = 0;
  node_exchange::room mapped_as_;
  std::int64_t error_ = 0;
  bool unreadable_ = false;
};

}  // namespace shoal
