// Comparing what Shoal received with what the MPI's own collective receives.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "execute/user_buffer.hpp"
#include "schedule/neighbor_graph.hpp"
#include "transport/mpi_transport.hpp"

namespace shoal {

// The first `blocks` blocks of a buffer, packed one after another. `peers`: the rank of each block, if some blocks may
// be nobody's (MPI_PROC_NULL); these may have no address, and are left out.
std::vector<std::byte> packed(const user_buffer& buffer, int blocks, std::span<const int> peers = {});

// Throws std::runtime_error saying where they differ, if they do.
void require_equal(const std::vector<std::byte>& shoals, const std::vector<std::byte>& natives, int rank);

// The blocks of a rank, and which rank is at the other end of each: who gets it, or who sent it. If several blocks go
// from one rank to another, both name them in the same order.
struct block_ends {
  struct end {
    int block, rank;
  };
  std::vector<end> sent, received;

  // As in an all-to-all, and among neighbours.
  static block_ends of_all(int ranks);
  static block_ends of(const neighbor_graph& graph, int rank);
};

// For exchanges that are started in one call and ended in another. A checksum of each block that is not empty travels
// beside it, and the receiver compares. A checksum has the same size whatever the size of its block.
class block_sums {
 public:
  // `beside` moves messages between the ranks that exchange.
  block_sums(const mpi_transport& beside, block_ends ends) : over_(beside.another()), ends_(std::move(ends)) {}
  ~block_sums() { abandon(); }
  block_sums(const block_sums&) = delete;
  block_sums& operator=(const block_sums&) = delete;

  // Sends the checksums of this rank's blocks, and expects those of the blocks that it will receive.
  void begin(int tag, const user_buffer& sent, const user_buffer& received);
  // Whether all checksums have arrived or were abandoned.
  bool test();
  // Expects no checksum any more, in later runs either, because the exchange failed: a rank that expects no block of
  // this size sends none, and one that comes later could be taken for that of another run.
  void abandon() noexcept;
  // Compares the blocks received. Throws std::runtime_error that names the rank of the first block that differs.
  void require_equal(const user_buffer& received) const;

 private:
  // They live until the MPI is done with them.
  struct numbers {
    std::vector<std::uint64_t> sent, received;
  };
  void take_ended();

  mpi_transport over_;
  block_ends ends_;
  std::vector<block_ends::end> expected_;  // in this run
  std::unique_ptr<numbers> numbers_;
  std::size_t under_way_ = 0;
  bool is_abandoned_ = false;
  std::exception_ptr failure_;
  std::vector<ended_transfer> ended_;
};

}  // namespace shoal
