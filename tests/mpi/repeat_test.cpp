// Calls after the first: no allocation, no new schedules, bounded memory.
#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "allocations.hpp"
#include "info.hpp"
#include "shoal/shoal.h"
#include "team/team.hpp"
#include "together.hpp"

namespace shoal {
namespace {

// The buffers for the calls of one test: blocks of `block` bytes, one after another.
class buffers {
 public:
  buffers(int ranks, int block) : counts_(ranks, block), at_(ranks), send_(ranks * block), recv_(ranks * block) {
    for (int i = 0; i < ranks; ++i) at_[i] = i * block;
  }
  int alltoall(MPI_Comm comm) {
    return shoal_alltoall(send_.data(), counts_[0], MPI_BYTE, recv_.data(), counts_[0], MPI_BYTE, comm);
  }
  int alltoallv(MPI_Comm comm, MPI_Info info = MPI_INFO_NULL) {
    return shoal_alltoallv_with(send_.data(), counts_.data(), at_.data(), MPI_BYTE, recv_.data(), counts_.data(),
                                at_.data(), MPI_BYTE, comm, info);
  }
  int in_place(MPI_Comm comm) {
    return shoal_alltoallv(MPI_IN_PLACE, nullptr, nullptr, MPI_DATATYPE_NULL, recv_.data(), counts_.data(), at_.data(),
                           MPI_BYTE, comm);
  }
  // A block is one element of a type that must be packed.
  int derived(MPI_Comm comm, MPI_Datatype type) {
    return shoal_alltoall(send_.data(), 1, type, recv_.data(), 1, type, comm);
  }

 private:
  std::vector<int> counts_, at_;
  std::vector<char> send_, recv_;
};

using call = std::function<int(MPI_Comm)>;

std::int64_t allocations_of(const call& make, MPI_Comm comm) {
  const std::int64_t before = allocations();
  EXPECT_EQ(make(comm), MPI_SUCCESS);
  return allocations() - before;
}

// The communicator is new, so that nothing is left from other calls. Many later calls are made, because what a rank
// holds at once depends on what arrives first.
void expect_no_allocation(const std::string& name, const char* spec, const call& make) {
  const scoped_comm comm(duplicate_of(MPI_COMM_WORLD));
  const std::int64_t before = allocations();
  ASSERT_EQ(shoal_comm_set_info(comm, for_exchanges(spec)), MPI_SUCCESS);
  EXPECT_EQ(make(comm), MPI_SUCCESS);
  EXPECT_GT(allocations(), before) << "allocations are not counted";
  for (int number = 2; number <= 20; ++number)
    EXPECT_EQ(allocations_of(make, comm), 0) << name << ", " << spec << ", call " << number;
}

MPI_Datatype spaced_bytes() {
  MPI_Datatype type;
  MPI_Type_vector(4, 2, 4, MPI_BYTE, &type);
  MPI_Type_commit(&type);
  return type;
}

TEST(Repeat, SecondCallAllocatesNothing) {
  MPI_Datatype spaced = spaced_bytes();
  for (const char* spec :
       {"spread_out", "pairwise", "scattered:block_count=2", "linear", "exclusive_or", "shared", "tuna:radix=2",
        "tuna:radix=3,inflight=1", "two_phase", "hierarchical:local=radix,radix=2"}) {
    buffers small(world_ranks(), 24), large(world_ranks(), 3000);
    const info how = for_exchanges(spec);
    expect_no_allocation("alltoall", spec, [&](MPI_Comm comm) { return small.alltoall(comm); });
    expect_no_allocation("small alltoallv", spec, [&](MPI_Comm comm) { return small.alltoallv(comm); });
    expect_no_allocation("small with info", spec, [&](MPI_Comm comm) { return small.alltoallv(comm, how); });
    expect_no_allocation("large alltoallv", spec, [&](MPI_Comm comm) { return large.alltoallv(comm); });
    expect_no_allocation("large in place", spec, [&](MPI_Comm comm) { return large.in_place(comm); });
    expect_no_allocation("derived type", spec, [&](MPI_Comm comm) { return small.derived(comm, spaced); });
  }
  MPI_Type_free(&spaced);
}

// Agreements come ever more rarely, and between two of them nothing is allocated.
TEST(Repeat, AutomaticCallsSettle) {
  const scoped_comm comm(duplicate_of(MPI_COMM_WORLD));
  buffers b(world_ranks(), 24);
  for (int i = 0; i < 1000; ++i) {
    ASSERT_EQ(b.alltoall(comm), MPI_SUCCESS);
    ASSERT_EQ(b.alltoallv(comm), MPI_SUCCESS);
  }
  int with_allocations = 0;
  for (int i = 0; i < 200; ++i) {
    with_allocations += allocations_of([&](MPI_Comm c) { return b.alltoall(c); }, comm) > 0;
    with_allocations += allocations_of([&](MPI_Comm c) { return b.alltoallv(c); }, comm) > 0;
  }
  EXPECT_LE(with_allocations, 60);
}

// The sizes of all blocks of one call, the same on every rank.
std::vector<int> sizes_of_call(int number, int ranks) {
  std::mt19937 random(static_cast<std::uint32_t>(number));
  std::vector<int> all(static_cast<std::size_t>(ranks * ranks));
  const int largest = 1 << random() % 15;
  for (int& size : all) size = random() % 3 ? static_cast<int>(random() % static_cast<std::uint32_t>(largest)) : 0;
  return all;
}

TEST(Repeat, ScratchOfChangingSizesIsGivenBackAndBounded) {
  team state(duplicate_of(MPI_COMM_WORLD), MPI_COMM_WORLD, settings{});
  const int ranks = state.ranks(), rank = state.rank();
  std::vector<char> send(static_cast<std::size_t>(ranks) << 15), recv(send.size());
  std::vector<int> sent(ranks), received(ranks), at(ranks);
  for (int i = 0; i < ranks; ++i) at[i] = i << 15;
  const linked_schedule& steps = state.schedule_of(parse_selection("tuna:radix=2"));
  const std::int64_t before = allocated_bytes();
  for (int number = 0; number < 2000; ++number) {
    const std::vector<int> sizes = sizes_of_call(number, ranks);
    for (int i = 0; i < ranks; ++i) {
      sent[i] = sizes[rank * ranks + i];
      received[i] = sizes[i * ranks + rank];
    }
    payload what;
    what.send.base = reinterpret_cast<std::byte*>(send.data());
    what.recv.base = reinterpret_cast<std::byte*>(recv.data());
    what.send.counts = number_array(sent.data());
    what.recv.counts = number_array(received.data());
    what.send.displacements = what.recv.displacements = number_array(at.data());
    state.run(steps, what);
    ASSERT_EQ(state.pool().in_use(), 0u) << "exchange " << number;
  }
  constexpr std::int64_t kept_by_pool = 64 << 20, others = 1 << 20;
  EXPECT_LT(allocated_bytes() - before, kept_by_pool + others);
  EXPECT_LT(state.pool().peak(), std::size_t{2} * static_cast<std::size_t>(ranks) << 15) << "scratch beyond the blocks";
}

}  // namespace
}  // namespace shoal
