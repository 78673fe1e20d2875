// Comparing what Shoal received with what the MPI's own collective receives.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "execute/user_buffer.hpp"

namespace shoal {

// The first blocks of a buffer as they travel, one after another. `peers`: whose they are, where some may be nobody's
// (MPI_PROC_NULL), whose addresses may be none.
std::vector<std::byte> packed(const user_buffer& buffer, int blocks, std::span<const int> peers = {});

// Throws std::runtime_error saying where they differ, if they do.
void require_equal(const std::vector<std::byte>& ours, const std::vector<std::byte>& natives, int rank);

// For exchanges that are started in one call and ended in another: sums of the blocks that are sent travel beside them, and
// their receivers compare. They have one size whatever the blocks have.
class block_sums {
 public:
  block_sums() = default;
  ~block_sums();
  block_sums(const block_sums&) = delete;
  block_sums& operator=(const block_sums&) = delete;

  // Every rank of `own` sends each rank the sum of one of its `blocks` blocks, or where it has one block of this one.
  void begin(MPI_Comm own, int tag, const user_buffer& sent, int blocks);
  // Whether the others' are here.
  bool test();
  // What was received of the ranks from `first` on. Throws std::runtime_error naming the first that differs.
  void require_equal(const user_buffer& received, int blocks, int first) const;

 private:
  std::vector<std::uint64_t> sent_, received_;
  std::vector<MPI_Request> requests_;
};

}  // namespace shoal
