// Ranks that know different things choose the same. Also run by test_choices.py with different settings on every rank.
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <string>

#include "info.hpp"
#include "oracle.hpp"
#include "shoal/shoal.h"
#include "together.hpp"

namespace shoal {
namespace {

// The same on every rank, and every rank's own counts differ from the others'.
std::vector<std::vector<std::int64_t>> random_blocks(std::mt19937& random, int ranks, bool uniform) {
  const int largest = std::vector{0, 3, 60, 900, 9000}[random() % 5];
  auto blocks = equal_blocks(ranks, static_cast<std::int64_t>(random() % (largest + 1)));
  if (uniform) return blocks;
  for (auto& row : blocks) {
    const std::uint32_t share_empty = random() % 4;
    for (auto& count : row)
      count = random() % 4 < share_empty ? 0 : static_cast<std::int64_t>(random() % (largest + 1));
  }
  return blocks;
}

job job_on(MPI_Comm comm, asked with, bool uniform = false) {
  job j;
  j.comm = comm;
  j.with = with;
  j.uniform = uniform;
  return j;
}

void exchange_at_random(MPI_Comm comm, std::mt19937& random) {
  job j = job_on(comm, asked::by_communicator, random() % 2);  // for nothing: auto
  j.scalars = random_blocks(random, ranks_of(comm), j.uniform);
  perform(j);
}

void expect_same_choice(MPI_Comm comm, int number) {
  const std::vector<std::string> all = collected(used_spec(comm));
  for (std::size_t rank = 1; rank < all.size(); ++rank)
    EXPECT_EQ(all[rank], all[0]) << "exchange " << number << ", rank " << rank;
}

TEST(Choices, AreTheSameOnEveryRank) {
  std::mt19937 random(7);
  const scoped_comm all(duplicate_of(MPI_COMM_WORLD)), half(split_of(MPI_COMM_WORLD, world_rank() % 2, world_rank()));
  for (int number = 0; number < 60; ++number) {
    exchange_at_random(all, random);
    if (number % 4 == 3) expect_same_choice(all, number);
    std::mt19937 of_half(number * 2 + world_rank() % 2);
    if (number % 3 == 0) exchange_at_random(half, of_half);
  }
}

// With SHOAL_TUNE=online, which test_choices.py sets.
bool tries() {
  const char* tune = std::getenv("SHOAL_TUNE");
  return tune && std::string(tune) == "online";
}

// But for the very first on a communicator, and for the one that measures. Settling after trying takes one more.
TEST(Choices, TakeAtMostOneReductionACall) {
  std::mt19937 random(5);
  for (const bool uniform : {true, false}) {
    const scoped_comm comm(duplicate_of(MPI_COMM_WORLD));
    job j = job_on(comm, asked::by_nobody, uniform);
    for (int call = 0; call < 60; ++call) {
      j.scalars = random_blocks(random, ranks_of(comm), uniform);
      const std::int64_t before = agreements_on(comm);
      perform(j);
      if (call == 0 || call == 20) continue;
      EXPECT_LE(agreements_on(comm) - before, !uniform + tries()) << "call " << call;
    }
  }
}

TEST(Choices, TakeNoReductionWhereTheAlgorithmIsAskedFor) {
  for (const char* spec : {"tuna:radix=2", "spread_out", "shared", "native"}) {
    const scoped_comm comm(duplicate_of(MPI_COMM_WORLD));
    ASSERT_EQ(shoal_comm_set_info(comm, for_exchanges(spec)), MPI_SUCCESS);
    job j = job_on(comm, asked::by_nobody);
    std::mt19937 random(5);
    for (int call = 0; call < 5; ++call) {
      j.uniform = call % 2;
      j.scalars = random_blocks(random, ranks_of(comm), j.uniform);
      const std::int64_t before = agreements_on(comm);
      perform(j);
      if (call == 0) continue;
      EXPECT_EQ(agreements_on(comm), before) << spec << ", call " << call;
    }
  }
}

// The same exchange so many times; what ran last, on every rank.
std::string after(int calls, MPI_Comm comm, const std::vector<std::vector<std::int64_t>>& blocks) {
  job j = job_on(comm, asked::by_nobody);
  j.scalars = blocks;
  for (int call = 0; call < calls; ++call) perform(j);
  expect_same_choice(comm, calls);
  return used_spec(comm);
}

// With the profile of that name, which test_choices.py writes: there asking is dear, and blocks of 4 KiB go fastest by
// radix 2, unless most are empty.
TEST(Choices, FollowSizesThatAreAskedForAtTimes) {
  const char* profile = std::getenv("SHOAL_PROFILE");
  if (on_any_rank(!profile || !std::string(profile).ends_with("at times"))) GTEST_SKIP() << "needs that profile";
  const scoped_comm comm(duplicate_of(MPI_COMM_WORLD));
  const int ranks = ranks_of(comm);
  auto sparse = equal_blocks(ranks, 0);
  sparse[ranks - 1][0] = 4096;
  EXPECT_EQ(after(1, comm, equal_blocks(ranks, 4096)), "tuna:radix=2");
  EXPECT_EQ(after(1, comm, equal_blocks(ranks, 8)), "tuna:radix=2") << "asked again too early";
  EXPECT_EQ(after(70, comm, equal_blocks(ranks, 8)), "pairwise");
  EXPECT_EQ(after(70, comm, equal_blocks(ranks, 4096)), "tuna:radix=2");
  EXPECT_EQ(after(70, comm, sparse), "pairwise");
  const std::int64_t before = agreements_on(comm);
  after(70, comm, sparse);
  EXPECT_LE(agreements_on(comm) - before, 8) << "sizes that repeat are asked for in few calls";
}

TEST(Choices, AreTriedOnTheProgramsOwnExchangesWhenAskedFor) {
  if (!tries()) GTEST_SKIP() << "needs SHOAL_TUNE=online";
  std::mt19937 random(11);
  for (const bool uniform : {true, false}) {
    const scoped_comm comm(duplicate_of(MPI_COMM_WORLD));
    job j = job_on(comm, asked::by_communicator, uniform);
    bool settled = false;
    for (int call = 0; call < 70; ++call) {
      j.scalars = uniform ? equal_blocks(ranks_of(comm), 40) : random_blocks(random, ranks_of(comm), false);
      perform(j);
      if (call % 10 == 9) expect_same_choice(comm, call);
      settled = settled || explained(comm).find("of the program's own exchanges, for") != std::string::npos;
    }
    EXPECT_TRUE(settled || !uniform) << explained(comm);
  }
}

}  // namespace
}  // namespace shoal
