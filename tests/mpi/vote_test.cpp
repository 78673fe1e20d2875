// Votes that fail, on communicators that the program then frees.
#include "learn/vote.hpp"

#include <gtest/gtest.h>

#include "together.hpp"
#include "transport/mpi_newer.hpp"

namespace shoal {
namespace {

bool frees_requests_of_collectives() {
#ifdef OPEN_MPI
  return false;
#else
  return shoal_request_is_complete;
#endif
}

// All ranks have given up the vote by then, some of them before others began it.
TEST(Vote, OneThatFailedKeepsNoCommunicatorFromBeingDisconnected) {
  const bool waits_for_requests = mpi_name().starts_with("MPICH") && !frees_requests_of_collectives();
  if (waits_for_requests || world_ranks() == 1) GTEST_SKIP() << "it needs the preload";
  MPI_Comm comm = duplicate_of(MPI_COMM_WORLD);
  waiting wait(wait_mode::yield);
  vote in_two_rounds(comm, wait);
  const auto fail = [&] {
    in_two_rounds.begin({world_rank()}, 1);
    in_two_rounds.wait_for(0);
    in_two_rounds.confirm(false, true, {}, 0);
    EXPECT_FALSE(in_two_rounds.end());
  };
  if (world_rank() == 0) fail();
  meet();
  if (world_rank() > 0) fail();
  meet();
#ifdef OPEN_MPI
  in_two_rounds.leave();  // as the attribute's delete callback does, which Open MPI calls first
#endif
  MPI_Comm_disconnect(&comm);
  EXPECT_EQ(comm, MPI_COMM_NULL);
}

// One rank heard nobody, as if it ran ahead. The others wait for the end of the second round, in which that rank must
// look until all have come.
TEST(Vote, OneThatFailedEndsOnAllRanksWhileTheyLookBack) {
  const scoped_comm comm(duplicate_of(MPI_COMM_WORLD));
  waiting wait(wait_mode::yield);
  vote runs(comm, wait);
  runs.begin({world_rank()}, 1);
  while (!runs.wait_for(1)) {
  }
  const bool is_ahead = world_rank() == world_ranks() - 1;
  runs.confirm(!is_ahead, false, {}, 2);
  EXPECT_FALSE(runs.end());
  while (!runs.look_back()) {
  }
  EXPECT_TRUE(runs.all_take_part());
  EXPECT_FALSE(runs.some_gave_up());
  EXPECT_FALSE(runs.has_failed_for_good());
}

}  // namespace
}  // namespace shoal
