// What learners decide. The ranks agree with each other, but exchange nothing: the tests tell what calls take.
#include "learn/learner.hpp"

#include <gtest/gtest.h>

#include <array>

#include "learn/intercommunicator.hpp"
#include "learn/job_state.hpp"
#include "select/contest.hpp"
#include "team/own_communicator.hpp"
#include "together.hpp"

namespace shoal {
namespace {

// A job of its own, so that no other test has spent its budget or taught it anything.
struct new_job : job_state {
  new_job() { begin_job(MPI_COMM_WORLD); }
};

// A program's calls on a communicator. They take a tenth of a second by the MPI's own, and half of that by Shoal.
class calls {
 public:
  calls(learner& of, const call_size& like) : of_(of), like_(like) {}

  // Returns which candidate has served.
  int make() {
    if (of_.passes(like_.form, like_.bytes)) return contest::native;
    last_ = of_.begin(like_, true);
    of_.end(last_, last_.candidate == contest::native ? 0.1 : 0.05);
    return last_.candidate;
  }
  // Of calls like these; there is one once they are no longer the communicator's first ones.
  const exchange_field& field() const { return *last_.in; }
  bool are_compared() const { return last_.in && last_.in->trials.is_comparing(); }

 private:
  learner& of_;
  call_size like_;
  learner::serving last_;
};

// While the choice and the MPI's own serve stretches in turn, the choice is what persistent exchanges take, and what the
// user is told.
TEST(Learner, TakesTheChoiceForPersistentExchangesWhileItIsCompared) {
  if (world_ranks() == 1) GTEST_SKIP() << "a rank alone learns nothing";
  constexpr int most_calls = 20000, few = 8;
  const scoped_comm comm(duplicate_of(MPI_COMM_WORLD));
  new_job job;
  learner of(job, comm, collective::alltoall);
  calls all(of, {call_form::equal, 64, true});
  for (int i = 0; i < most_calls && !all.are_compared(); ++i) all.make();
  ASSERT_TRUE(all.are_compared()) << of.explain();
  const int choice = all.field().trials.choice();
  ASSERT_NE(choice, contest::native);
  const prepared* const chosen = all.field().decisions[choice].algorithm;
  std::array<int, contest::most_candidates> served{};
  while (served[contest::native] < few || served[choice] < few) {
    ++served[all.make()];
    ASSERT_TRUE(all.are_compared());
    EXPECT_TRUE(of.explain().starts_with(chosen->spec + ": after ")) << of.explain();
    EXPECT_EQ(of.state()->settled(call_form::equal, all.field().shape.size)->algorithm, chosen);
  }
}

// The same between two groups, the ranks with even and odd numbers. The MPI's own is tried once more right after Shoal
// has taken over, and later for a few calls only.
TEST(Learner, IsAheadBetweenGroupsWhileItIsCompared) {
  if (world_ranks() == 1) GTEST_SKIP() << "a rank alone has no other group";
  constexpr int most_calls = 20000, soonest = 200, many = 12;
  const int side = world_rank() % 2;
  const scoped_comm own(split_of(MPI_COMM_WORLD, side, world_rank()));
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Intercomm_create(own, 0, MPI_COMM_WORLD, 1 - side, 0, &made);
  const scoped_comm both(made);
  new_job job;
  intercommunicator groups(job, both, merged(both), job.set());
  const group_sizes sizes{{direction_sizes{64, 64}, direction_sizes{64, 64}}};
  int behind_taking_over = 0, by_mpi = 0;  // calls; the latter in a row
  for (int i = 0; i < most_calls && by_mpi < many; ++i) {
    const bool is_shoals = groups.begin(true, sizes);
    groups.end(groups.counts_in(), is_shoals ? 0.05 : 0.1);
    behind_taking_over += behind_taking_over > 0 || groups.is_ahead(true);
    by_mpi = is_shoals || behind_taking_over < soonest ? 0 : by_mpi + 1;
  }
  ASSERT_EQ(by_mpi, many);
  EXPECT_TRUE(groups.is_ahead(true));
}

// Calls for which the MPI's own is named count for nothing, but those behind them do.
TEST(Learner, CountsCallsThatPassBehindNamedOnes) {
  constexpr call_size like{call_form::any_sizes, 64, false};
  MPI_Comm ring = MPI_COMM_NULL;
  const int ranks = world_ranks(), periodic = 1;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &periodic, 0, &ring);
  const scoped_comm comm(ring);
  new_job job;
  learner of(job, comm, collective::neighbor_alltoall);
  calls all(of, like);
  while (!of.passes(like.form, like.bytes)) all.make();
  const std::int64_t before = of.calls();
  of.let_named_pass();
  of.have_passed(4);
  EXPECT_EQ(of.calls(), before);
  EXPECT_TRUE(of.passes(like.form, like.bytes));
  of.have_passed(2);
  EXPECT_EQ(of.calls(), before + 3);
}

}  // namespace
}  // namespace shoal
