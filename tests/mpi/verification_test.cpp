// Checksums of blocks tell whether what was received is what was sent.
#include "calls/verification.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "together.hpp"

namespace shoal {
namespace {

user_buffer blocks_of(std::vector<int>& values, const std::int64_t count) {
  user_buffer made;
  made.base = reinterpret_cast<std::byte*>(values.data());
  made.counts = number_array::linear(count, 0);
  made.displacements = number_array::linear(0, count);
  made.type.size = made.extent = sizeof(int);
  return made;
}

TEST(Verification, SumsTellADifference) {
  const scoped_comm comm(duplicate_of(MPI_COMM_WORLD));
  const int ranks = world_ranks(), me = world_rank();
  std::vector<int> sent, received;
  for (int peer = 0; peer < ranks; ++peer) {
    sent.insert(sent.end(), 2, me * 100 + peer);
    received.insert(received.end(), 2, peer * 100 + me);
  }
  block_sums sums(mpi_transport(comm), block_ends::of_all(ranks));
  sums.begin(7, blocks_of(sent, 2), blocks_of(received, 2));
  while (!sums.test()) {
  }
  EXPECT_NO_THROW(sums.require_equal(blocks_of(received, 2)));
  received.back() ^= 1;
  EXPECT_THROW(sums.require_equal(blocks_of(received, 2)), std::runtime_error);
}

// Each rank sends two blocks to the next one, which has them in the other order, and a third one to nobody.
TEST(Verification, SumsFollowTheirBlocks) {
  const scoped_comm comm(duplicate_of(MPI_COMM_WORLD));
  const int ranks = world_ranks(), me = world_rank(), next = (me + 1) % ranks, last = (me + ranks - 1) % ranks;
  std::vector<int> sent = {me * 10, me * 10 + 1, -1}, received = {-2, last * 10 + 1, last * 10};
  block_sums sums(mpi_transport(comm), {{{0, next}, {1, next}}, {{2, last}, {1, last}}});
  sums.begin(7, blocks_of(sent, 1), blocks_of(received, 1));
  while (!sums.test()) {
  }
  EXPECT_NO_THROW(sums.require_equal(blocks_of(received, 1)));
  std::swap(received[1], received[2]);
  EXPECT_THROW(sums.require_equal(blocks_of(received, 1)), std::runtime_error);
}

}  // namespace
}  // namespace shoal
