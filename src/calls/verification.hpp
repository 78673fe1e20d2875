// Comparing what Shoal received with what the MPI's own collective receives.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "execute/user_buffer.hpp"

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

  // As in an all-to-all.
  static block_ends of_all(int ranks);
};

// For exchanges that are started in one call and ended in another. A checksum of each block travels beside it, and the
// receiver compares. A checksum has the same size whatever the size of its block.
class block_sums {
 public:
  explicit block_sums(block_ends ends) : ends_(std::move(ends)) {}
  ~block_sums();
  block_sums(const block_sums&) = delete;
  block_sums& operator=(const block_sums&) = delete;

  // Every rank of `own` sends the checksums of its blocks.
  void begin(MPI_Comm own, int tag, const user_buffer& sent);
  // Whether the checksums of all others have arrived.
  bool test();
  // Compares the blocks received. Throws std::runtime_error that names the rank of the first block that differs.
  void require_equal(const user_buffer& received) const;

 private:
  block_ends ends_;
  std::vector<std::uint64_t> sent_, received_;
  std::vector<MPI_Request> requests_;
};

}  // namespace shoal
