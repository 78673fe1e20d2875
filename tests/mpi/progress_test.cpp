// What the MPI moves while a rank waits in Shoal.
#include <gtest/gtest.h>
#include <mpi.h>
#include <sched.h>

#include <atomic>
#include <vector>

#include "transport/mpi_transport.hpp"
#include "together.hpp"

namespace shoal {
namespace {

// Numbers that ranks can read without a call of the MPI, which would move messages.
struct seen_by_all {
  std::atomic<int> begun, ended;
};

// All ranks of the world, which are on one machine, make and free this object together.
class shared_numbers {
 public:
  shared_numbers() {
    void* mine = nullptr;
    const MPI_Aint bytes = world_rank() == 0 ? sizeof(seen_by_all) : 0;
    MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &window_);
    MPI_Aint size = 0;
    int unit = 0;
    MPI_Win_shared_query(window_, 0, &size, &unit, &numbers_);
    if (world_rank() == 0) new (numbers_) seen_by_all{};
    meet();
  }
  ~shared_numbers() { MPI_Win_free(&window_); }
  shared_numbers(const shared_numbers&) = delete;
  shared_numbers& operator=(const shared_numbers&) = delete;
  seen_by_all* operator->() { return static_cast<seen_by_all*>(numbers_); }

 private:
  MPI_Win window_ = MPI_WIN_NULL;
  void* numbers_ = nullptr;
};

// Rank 0 waits in Shoal, as if for something in the memory of its node. Before that, it began a collective of the MPI's
// own, in place, which takes a step for each rank. A message for Shoal is there too, but rank 0 does not receive it.
TEST(Progress, CollectivesOfTheMpisOwnMoveBesideMessagesThatNobodyReceivesYet) {
  if (world_ranks() < 3) GTEST_SKIP();
  const scoped_comm own(duplicate_of(MPI_COMM_WORLD)), other(duplicate_of(MPI_COMM_WORLD));
  shared_numbers seen;
  std::vector<int> blocks(static_cast<std::size_t>(world_ranks()), world_rank());
  MPI_Request collective = MPI_REQUEST_NULL;
  const auto begin = [&] { PMPI_Ialltoall(MPI_IN_PLACE, 0, MPI_INT, blocks.data(), 1, MPI_INT, other, &collective); };
  int message = 1;
  if (world_rank() == 1) MPI_Send(&message, 1, MPI_INT, 0, 1, own);
  if (world_rank() == 0) {
    MPI_Probe(1, 1, own, MPI_STATUS_IGNORE);
    begin();
    seen->begun = 1;
    mpi_transport over(own);
    for (std::vector<ended_transfer> none; seen->ended < world_ranks() - 1; sched_yield()) over.poll(none);
  } else {
    while (!seen->begun) sched_yield();
    begin();
  }
  MPI_Wait(&collective, MPI_STATUS_IGNORE);
  ++seen->ended;
  if (world_rank() == 0) MPI_Recv(&message, 1, MPI_INT, 1, 1, own, MPI_STATUS_IGNORE);
  for (int i = 0; i < world_ranks(); ++i) EXPECT_EQ(blocks[static_cast<std::size_t>(i)], i);
}

}  // namespace
}  // namespace shoal
