// Agreements that a rank leaves before other ranks begin them.
#include "team/pending_agreement.hpp"

#include <gtest/gtest.h>

#include "allocations.hpp"
#include "together.hpp"

namespace shoal {
namespace {

// Each number is largest on another rank.
TEST(PendingAgreement, TellsTheLargestOfEachNumber) {
  const scoped_comm comm(duplicate_of(MPI_COMM_WORLD));
  waiting wait(wait_mode::yield);
  const std::int64_t rank = world_rank(), last = world_ranks() - 1;
  for (int round = 0; round < 3; ++round) {
    pending_agreement said(comm, {rank, -rank, round - 1000, rank == 1 ? 7 : -7});
    const auto largest = said.wait(wait);
    EXPECT_EQ(std::vector(largest.begin(), largest.end()),
              (std::vector<std::int64_t>{last, 0, round - 1000, last > 0 ? 7 : -7}));
  }
}

// A rank leaves agreements in destructors and where memory has run out, so leaving one may not need any.
TEST(PendingAgreement, IsLeftWithoutMemory) {
  const scoped_comm comm(duplicate_of(MPI_COMM_WORLD));
  const auto begin_and_leave = [&] {
    pending_agreement said(comm, {world_rank(), 7});
    const scarce_memory none(0);
    EXPECT_NO_THROW(said.abandon());
  };
  if (world_rank() == 0) begin_and_leave();
  meet();
  if (world_rank() > 0) begin_and_leave();
  meet();
}

// Rank 0 frees the communicator before the others begin.
TEST(PendingAgreement, EndsBehindACommunicatorThatIsFreed) {
  MPI_Comm comm = duplicate_of(MPI_COMM_WORLD);
  const auto begin_and_let_go = [&] {
    const bool has_ended =
        pending_agreement::let_go(std::make_unique<pending_agreement>(comm, std::vector<std::int64_t>{7}));
    MPI_Comm_free(&comm);
    return has_ended;
  };
  if (world_rank() == 0) EXPECT_EQ(begin_and_let_go(), world_ranks() == 1);
  meet();
  if (world_rank() > 0) begin_and_let_go();
  while (pending_agreement::left_to_mpi() > 0) {
  }
  meet();
}

}  // namespace
}  // namespace shoal
