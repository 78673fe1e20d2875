// Communicators of every kind: thousands that are made and freed, duplicates, too many, and those of two groups.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <numeric>

#include "allocations.hpp"
#include "info.hpp"
#include "oracle.hpp"
#include "shoal/shoal.h"
#include "together.hpp"

// The functions below stand in front of the MPI's, and count the communicators that Shoal makes for itself.
namespace {

std::atomic<int> made = 0, freed = 0;

template <typename Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" {

__attribute__((visibility("default"))) int PMPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm* result) {
  ++made;
  return next<int(MPI_Comm, MPI_Group, MPI_Comm*)>("PMPI_Comm_create")(comm, group, result);
}

__attribute__((visibility("default"))) int PMPI_Comm_free(MPI_Comm* comm) {
  ++freed;
  return next<int(MPI_Comm*)>("PMPI_Comm_free")(comm);
}

}  // extern "C"

namespace shoal {
namespace {

void exchange_on(MPI_Comm comm, const std::string& spec = "auto") {
  job j;
  j.comm = comm;
  j.spec = spec;
  j.scalars = equal_blocks(ranks_of(comm), 12);
  perform(j);
}

void use_and_free(int times) {
  for (int i = 0; i < times; ++i) {
    const scoped_comm comm(duplicate_of(MPI_COMM_WORLD));
    exchange_on(comm, i % 4 ? "linear" : "auto");
  }
}

void use_and_free_without_leaving_anything(int times) {
  use_and_free(4);
  const int alive = made - freed;
  const std::int64_t memory = allocated_bytes();
  use_and_free(times);
  EXPECT_EQ(made - freed, alive);
  EXPECT_LE(allocated_bytes() - memory, 1000);
  EXPECT_TRUE(world_ranks() == 1 || made > 60) << "communicators are not counted";
}

TEST(Communicators, ManyAreUsedAndFreedWithoutLeavingAnything) { use_and_free_without_leaving_anything(60); }

TEST(Communicators, MoreThanAnMpiHasAtATimeAreUsedAndFreed) {
  if (world_ranks() > 2) GTEST_SKIP() << "takes long on more than two ranks";
  use_and_free_without_leaving_anything(2100);
}

TEST(Communicators, ThousandsOfOneRank) {
  const auto use = [](int times) {
    for (int i = 0; i < times; ++i) exchange_on(scoped_comm(duplicate_of(MPI_COMM_SELF)), "linear");
  };
  use(4);
  const std::int64_t memory = allocated_bytes();
  use(3000);
  EXPECT_LE(allocated_bytes() - memory, 1000);
}

TEST(Communicators, ADuplicateOfAUsedOneStartsFresh) {
  const scoped_comm first(duplicate_of(MPI_COMM_WORLD));
  ASSERT_EQ(shoal_comm_set_info(first, info{{"shoal_alltoallv", "pairwise"}}), MPI_SUCCESS);
  exchange_on(first);
  const scoped_comm second(duplicate_of(first));
  EXPECT_NE(explained(second).find("nothing was exchanged"), std::string::npos);
  std::vector<int> zeros(world_ranks());
  char send, recv;
  ASSERT_EQ(
      shoal_alltoallv(&send, zeros.data(), zeros.data(), MPI_BYTE, &recv, zeros.data(), zeros.data(), MPI_BYTE, second),
      MPI_SUCCESS);
  EXPECT_EQ(explained(second).find("asked for"), std::string::npos) << explained(second);
}

int copies = 0;
int count_copy(MPI_Comm, int, void*, void*, void*, int* flag) {
  ++copies;
  *flag = 1;
  return MPI_SUCCESS;
}

TEST(Communicators, AttributesOfTheUserAreNotCopied) {
  copies = 0;
  const scoped_comm comm(duplicate_of(MPI_COMM_WORLD));
  int key;
  MPI_Comm_create_keyval(count_copy, MPI_COMM_NULL_DELETE_FN, &key, nullptr);
  MPI_Comm_set_attr(comm, key, &copies);
  exchange_on(comm, "tuna:radix=2");
  EXPECT_EQ(copies, 0);
  MPI_Comm_free_keyval(&key);
}

// Only rank 0 has too many communicators, and therefore no rank may start a schedule.
TEST(Communicators, BeyondTheLimitOfOneRankAllFallBackTogether) {
  {
    std::vector<std::unique_ptr<scoped_comm>> many;
    for (int i = 0; i < 520 && world_rank() == 0; ++i) {
      many.push_back(std::make_unique<scoped_comm>(duplicate_of(MPI_COMM_SELF)));
      exchange_on(*many.back(), "linear");
    }
    const scoped_comm comm(duplicate_of(MPI_COMM_WORLD));
    exchange_on(comm, "linear");
    EXPECT_NE(explained(comm).find("communicators in use"), std::string::npos) << explained(comm);
  }
  const scoped_comm later(duplicate_of(MPI_COMM_WORLD));
  exchange_on(later, "linear");
  EXPECT_EQ(used_spec(later), "linear");
}

MPI_Comm between_odd_and_even(MPI_Comm half) {
  MPI_Comm both = MPI_COMM_NULL;
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, world_rank() % 2 ? 0 : 1, 7, &both);
  MPI_Comm_set_errhandler(both, MPI_ERRORS_RETURN);
  return both;
}

// Rank k of each group sends k bytes to each rank of the other group.
TEST(Communicators, BetweenTwoGroupsTheMpiExchanges) {
  if (world_ranks() < 2) GTEST_SKIP() << "needs 2 ranks";
  const scoped_comm half(split_of(MPI_COMM_WORLD, world_rank() % 2, world_rank()));
  const scoped_comm both(between_odd_and_even(half));
  int others = 0;
  MPI_Comm_remote_size(both, &others);
  const int rank = rank_in(half), side = world_rank() % 2;
  std::vector<int> sent(others, rank), sent_at(others), received(others), received_at(others);
  std::iota(received.begin(), received.end(), 0);
  std::exclusive_scan(sent.begin(), sent.end(), sent_at.begin(), 0);
  std::exclusive_scan(received.begin(), received.end(), received_at.begin(), 0);
  std::vector<std::byte> send(static_cast<std::size_t>(others * rank + 1)), recv(1000), expected(1000);
  for (int o = 0; o < others; ++o) {
    for (int k = 0; k < rank; ++k) send[sent_at[o] + k] = content(side * 100 + rank, o, k);
    for (int k = 0; k < o; ++k) expected[received_at[o] + k] = content((1 - side) * 100 + o, rank, k);
  }
  ASSERT_EQ(shoal_alltoallv(send.data(), sent.data(), sent_at.data(), MPI_BYTE, recv.data(), received.data(),
                            received_at.data(), MPI_BYTE, both),
            MPI_SUCCESS);
  EXPECT_EQ(recv, expected);
  EXPECT_NE(explained(both).find("inter-communicator"), std::string::npos);
}

TEST(Communicators, BetweenTwoGroupsTheMpiExchangesEqualBlocks) {
  if (world_ranks() < 2) GTEST_SKIP() << "needs 2 ranks";
  const scoped_comm half(split_of(MPI_COMM_WORLD, world_rank() % 2, world_rank()));
  const scoped_comm both(between_odd_and_even(half));
  int others = 0;
  MPI_Comm_remote_size(both, &others);
  const int side = world_rank() % 2;
  std::vector<int> send(others), recv(others), expected(others);
  for (int o = 0; o < others; ++o) {
    send[o] = side * 10000 + rank_in(half) * 100 + o;
    expected[o] = (1 - side) * 10000 + o * 100 + rank_in(half);
  }
  ASSERT_EQ(shoal_alltoall(send.data(), 1, MPI_INT, recv.data(), 1, MPI_INT, both), MPI_SUCCESS);
  EXPECT_EQ(recv, expected);
  ASSERT_EQ(shoal_alltoall_c(send.data(), 1, MPI_INT, recv.data(), 1, MPI_INT, both), MPI_SUCCESS);
  EXPECT_EQ(recv, expected);
}

}  // namespace
}  // namespace shoal
