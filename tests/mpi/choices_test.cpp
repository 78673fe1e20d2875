// Ranks that know different things choose alike. test_choices.py runs these tests with different settings on each rank.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <random>
#include <set>
#include <string>

#include "calls/process.hpp"
#include "calls/recent_calls.hpp"
#include "info.hpp"
#include "oracle.hpp"
#include "shoal/shoal.h"
#include "together.hpp"

namespace shoal {
namespace {

// The blocks of all ranks, which all ranks draw alike. A rank's own counts differ from those of the others.
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
  job j = job_on(comm, asked::by_communicator, random() % 2);  // asks for auto
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

// Blocks of bytes for nonblocking exchanges, which are started once, and persistent ones, which are started many times.
class started_blocks {
 public:
  started_blocks(MPI_Comm comm, const std::vector<std::vector<std::int64_t>>& all) : comm_(comm), me_(rank_in(comm)) {
    for (std::size_t peer = 0; peer < all.size(); ++peer) {
      sent_.push_back(static_cast<int>(all[me_][peer]));
      received_.push_back(static_cast<int>(all[peer][me_]));
    }
    std::exclusive_scan(sent_.begin(), sent_.end(), std::back_inserter(sent_at_), 0);
    std::exclusive_scan(received_.begin(), received_.end(), std::back_inserter(received_at_), 0);
    for (std::size_t peer = 0; peer < all.size(); ++peer) send_.insert(send_.end(), sent_[peer], content(me_, peer));
    recv_.resize(received_at_.back() + received_.back());
  }

  int once(bool uniform, shoal_request* request) {
    if (uniform)
      return shoal_ialltoall(send_.data(), sent_[0], MPI_CHAR, recv_.data(), sent_[0], MPI_CHAR, comm_, request);
    return shoal_ialltoallv(send_.data(), sent_.data(), sent_at_.data(), MPI_CHAR, recv_.data(), received_.data(),
                            received_at_.data(), MPI_CHAR, comm_, request);
  }
  int many_times(bool uniform, shoal_request* request) {
    if (uniform)
      return shoal_alltoall_init(send_.data(), sent_[0], MPI_CHAR, recv_.data(), sent_[0], MPI_CHAR, comm_,
                                 MPI_INFO_NULL, request);
    return shoal_alltoallv_init(send_.data(), sent_.data(), sent_at_.data(), MPI_CHAR, recv_.data(), received_.data(),
                                received_at_.data(), MPI_CHAR, comm_, MPI_INFO_NULL, request);
  }

  // Checks what arrived, and then overwrites it.
  void check() {
    for (std::size_t peer = 0; peer < received_.size(); ++peer)
      for (int k = 0; k < received_[peer]; ++k) ASSERT_EQ(recv_[received_at_[peer] + k], content(peer, me_));
    std::fill(recv_.begin(), recv_.end(), -1);
  }

 private:
  static char content(std::size_t from, std::size_t to) { return static_cast<char>((from * 16 + to) % 100); }

  MPI_Comm comm_;
  std::size_t me_;
  std::vector<int> sent_, received_, sent_at_, received_at_;
  std::vector<char> send_, recv_;
};

TEST(Choices, AreTheSameForExchangesThatAreStarted) {
  std::mt19937 random(13);
  const scoped_comm comm(duplicate_of(MPI_COMM_WORLD));
  for (int number = 0; number < 48; ++number) {
    const bool uniform = random() % 2, once = random() % 2;
    started_blocks blocks(comm, random_blocks(random, ranks_of(comm), uniform));
    shoal_request request = SHOAL_REQUEST_NULL;
    ASSERT_EQ(once ? blocks.once(uniform, &request) : blocks.many_times(uniform, &request), MPI_SUCCESS);
    const bool beside = number % 3 == 0;
    if (beside) exchange_at_random(comm, random);  // beside this one; chance decides which ends last
    for (int left = once ? 1 : 3; left > 0; --left) {
      if (!once) {
        ASSERT_EQ(shoal_start(request), MPI_SUCCESS);
      }
      ASSERT_EQ(shoal_wait(&request), MPI_SUCCESS);
      blocks.check();
    }
    if (!once) {
      ASSERT_EQ(shoal_request_free(&request), MPI_SUCCESS);
    }
    if (!beside) expect_same_choice(comm, number);
  }
}

// Nothing is known about the large exchanges yet, and what was made for the small ones has no room for them.
TEST(Choices, AreThereForExchangesOfASizeThatIsHardlyKnown) {
  const scoped_comm comm(duplicate_of(MPI_COMM_WORLD));
  const int ranks = ranks_of(comm), small = 64, large = 4 << 20;
  std::vector<char> sent(static_cast<std::size_t>(ranks) * large), got(sent.size());
  const auto exchange = [&](int bytes) {
    return shoal_alltoall(sent.data(), bytes, MPI_CHAR, got.data(), bytes, MPI_CHAR, comm);
  };
  for (int number = 0; number < 3000; ++number) ASSERT_EQ(exchange(small), MPI_SUCCESS);
  for (int number = 0; number < 8; ++number) ASSERT_EQ(exchange(large), MPI_SUCCESS);
  started_blocks blocks(comm, equal_blocks(ranks, large));
  shoal_request request = SHOAL_REQUEST_NULL;
  ASSERT_EQ(blocks.many_times(true, &request), MPI_SUCCESS);
  ASSERT_EQ(shoal_start(request), MPI_SUCCESS);
  ASSERT_EQ(shoal_wait(&request), MPI_SUCCESS);
  blocks.check();
  ASSERT_EQ(shoal_request_free(&request), MPI_SUCCESS);
}

// test_choices.py gives one rank settings of its own. Then calls that may wait for other ranks are refused on all
// ranks, and the MPI's own serves calls that may not wait.
TEST(DifferentSettings, AreRefusedInEveryKindOfCallOnEveryRank) {
  const char* mine = std::getenv("SHOAL_ALLTOALLV");
  const std::vector<std::string> all = collected(mine ? mine : "");
  const bool differ = std::set(all.begin(), all.end()).size() > 1;  // only rank 0 knows
  if (!on_any_rank(differ)) GTEST_SKIP() << "needs settings that differ";
  std::mt19937 random(17);
  const scoped_comm comm(duplicate_of(MPI_COMM_WORLD));
  for (int number = 0; number < 12; ++number) {
    const bool uniform = random() % 2;
    started_blocks blocks(comm, random_blocks(random, ranks_of(comm), uniform));
    shoal_request request = SHOAL_REQUEST_NULL;
    ASSERT_NE(blocks.many_times(uniform, &request), MPI_SUCCESS);
    ASSERT_EQ(request, SHOAL_REQUEST_NULL);
    ASSERT_EQ(blocks.once(uniform, &request), MPI_SUCCESS);
    ASSERT_EQ(shoal_wait(&request), MPI_SUCCESS);
    blocks.check();
    int sent = 1, received = 0;
    ASSERT_NE(shoal_alltoall(&sent, 0, MPI_INT, &received, 0, MPI_INT, comm), MPI_SUCCESS);
  }
}

TEST(Choices, MakeNothingInTheFirstCalls) {
  if (std::getenv("SHOAL_PROFILE")) GTEST_SKIP() << "needs no profile";
  for (const bool uniform : {true, false}) {
    const scoped_comm comm(duplicate_of(MPI_COMM_WORLD));
    job j = job_on(comm, asked::by_nobody, uniform);
    j.scalars = equal_blocks(ranks_of(comm), 40);
    for (int call = 0; call < 7; ++call) perform(j);
    EXPECT_EQ(process::get().present_state_of(comm), nullptr);
  }
}

// The settings ask for the MPI's own. The program may ask for another algorithm later.
TEST(Choices, MakeNoCommunicatorForTheMpisOwn) {
  const char* const set = std::getenv("SHOAL_ALLTOALL");
  if (!set || set != std::string("native")) GTEST_SKIP() << "needs SHOAL_ALLTOALL=native";
  const scoped_comm comm(duplicate_of(MPI_COMM_WORLD));
  job j = job_on(comm, asked::by_nobody, true);
  j.scalars = equal_blocks(ranks_of(comm), 40);
  perform(j);
  communicator* const state = process::get().present_state_of(comm);
  ASSERT_NE(state, nullptr);
  EXPECT_FALSE(state->all().is_open());
  EXPECT_EQ(used_spec(comm), "native");
  ASSERT_EQ(shoal_comm_set_info(comm, for_exchanges("tuna:radix=2")), MPI_SUCCESS);
  perform(j);
  EXPECT_TRUE(state->all().is_open());
  EXPECT_EQ(used_spec(comm), "tuna:radix=2");
}

TEST(Choices, OfNativeByNameLetLaterCallsPass) {
  if (process::get().is_watched()) GTEST_SKIP() << "somebody wants to know of every call";
  for (const std::string spec : {"native", "tuna:radix=2"}) {
    const scoped_comm comm(duplicate_of(MPI_COMM_WORLD));
    std::vector<int> sent(ranks_of(comm)), got(ranks_of(comm));
    const call_signature call = signature_of(sent.data(), 1, MPI_INT, got.data(), 1, MPI_INT, comm);
    ASSERT_EQ(shoal_comm_set_info(comm, for_exchanges(spec)), MPI_SUCCESS);
    ASSERT_EQ(shoal_alltoall(sent.data(), 1, MPI_INT, got.data(), 1, MPI_INT, comm), MPI_SUCCESS);
    // The learner keeps the right if the program has several threads.
    const bool pass = recent_calls::pass_again(comm, call) || process::learner_of(comm)->take_passes() > 0;
    EXPECT_EQ(pass, spec == "native") << spec;
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

// Choices are settled on the program's own exchanges alone, and alike on all ranks.
TEST(Choices, AreSettledTogether) {
  std::mt19937 random(11);
  for (const bool uniform : {true, false}) {
    const scoped_comm comm(duplicate_of(MPI_COMM_WORLD));
    job j = job_on(comm, asked::by_nobody, uniform);
    for (int call = 0; call < 400; ++call) {
      j.scalars = uniform ? equal_blocks(ranks_of(comm), 40) : random_blocks(random, ranks_of(comm), false);
      perform(j);
      if (call % 40 == 39) expect_same_choice(comm, call);
    }
  }
}

// Two sizes that alternate are two exchanges to Shoal. It finds that they alternate without any rank telling its sizes.
TEST(Choices, FollowSizesThatAlternate) {
  const scoped_comm comm(duplicate_of(MPI_COMM_WORLD));
  job j = job_on(comm, asked::by_nobody);
  for (int call = 0; call < 400; ++call) {
    j.scalars = equal_blocks(ranks_of(comm), call % 2 ? 4 : 2000);
    perform(j);
    if (call % 50 == 49) expect_same_choice(comm, call);
  }
}

}  // namespace
}  // namespace shoal
