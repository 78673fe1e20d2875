// Comparing what Shoal received with what the MPI's own collective receives.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "execute/user_buffer.hpp"

namespace shoal {

// The first `blocks` blocks of a buffer, packed one after another. `peers`: the rank of each block, if some blocks may
// be nobody's (MPI_PROC_NULL); these may have no address, and are left out.
std::vector<std::byte> packed(const user_buffer& buffer, int blocks, std::span<const int> peers = {});

// Throws std::runtime_error saying where they differ, if they do.
void require_equal(const std::vector<std::byte>& shoals, const std::vector<std::byte>& natives, int rank);

// For exchanges that are started in one call and ended in another. A checksum of each block travels beside it, and the
// receiver compares. A checksum has the same size whatever the size of its block.
class block_sums {
 public:
  block_sums() = default;
  ~block_sums();
  block_sums(const block_sums&) = delete;
  block_sums& operator=(const block_sums&) = delete;

  // Every rank of `own` sends each rank the checksum of the block for that rank. A rank with one block sends that
  // block's checksum to all.
  void begin(MPI_Comm own, int tag, const user_buffer& sent, int blocks);
  // Whether the checksums of all others have arrived.
  bool test();
  // Compares the blocks received from the ranks from `first` on. Throws std::runtime_error that names the first rank
  // whose block differs.
  void require_equal(const user_buffer& received, int blocks, int first) const;

 private:
  std::vector<std::uint64_t> sent_, received_;
  std::vector<MPI_Request> requests_;
};

}  // namespace shoal
