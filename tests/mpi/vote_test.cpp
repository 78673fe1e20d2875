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
    in_two_rounds.confirm(false, vote::after_failure::has_settings, {}, 0);
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

// Rank 0 says so, though it has heard all others.
TEST(Vote, ThatFailsBecauseARankRunsAheadIsTheLast) {
  if (world_ranks() == 1) GTEST_SKIP() << "it takes several ranks";
  using next = vote::after_failure;
  const scoped_comm comm(duplicate_of(MPI_COMM_WORLD));
  waiting wait(wait_mode::yield);
  vote runs(comm, wait);
  const bool is_ahead = world_rank() == 0;
  runs.begin({world_rank()}, 1);
  while (!runs.wait_for(1)) {
  }
  runs.confirm(!is_ahead, is_ahead ? next::runs_ahead : next::again, {}, 2);
  EXPECT_FALSE(runs.end());
  EXPECT_EQ(runs.has_failed_for_good(), is_ahead);
  if (is_ahead) return;
  EXPECT_TRUE(runs.some_run_ahead());
  EXPECT_FALSE(runs.all_take_part());
  EXPECT_FALSE(runs.some_have_settings());
}

// Others may wait for the second round, and get on only while this rank looks at it.
TEST(Vote, ARankThatRunsAheadLooksAtTheSecondRoundForLonger) {
  using next = vote::after_failure;
  const scoped_comm comm(duplicate_of(MPI_COMM_WORLD));
  waiting wait(wait_mode::yield);
  vote runs(comm, wait);
  const auto last_call = [&](next then) {
    constexpr std::int64_t begins_in = 80, confirms_in = 100;
    runs.begin({world_rank()}, begins_in);
    while (!runs.wait_for(1)) {
    }
    runs.confirm(false, then, {}, confirms_in);
    std::int64_t call = confirms_in;
    while (!runs.ends_at(call)) ++call;
    EXPECT_FALSE(runs.end());
    return call;
  };
  EXPECT_EQ(last_call(next::again), 100);
  EXPECT_EQ(last_call(next::again), 125);
  EXPECT_EQ(last_call(next::runs_ahead), 200);
}

}  // namespace
}  // namespace shoal
