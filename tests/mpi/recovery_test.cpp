// An exchange that ends in an error leaves nothing behind: the next exchange on the communicator is right.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "info.hpp"
#include "shoal/shoal.h"
#include "together.hpp"

namespace shoal {
namespace {

const char* const specs[] = {
    "spread_out", "linear",       "scattered:block_count=1",   "pairwise", "tuna:radix=2", "tuna:radix=3",
    "two_phase",  "hierarchical", "hierarchical:local=shared", "shared"};

// These need equal blocks.
const char* const uniform_specs[] = {"bruck:radix=2", "bruck:radix=3", "bruck:radix=2,variant=basic"};

std::vector<std::string> specs_for(int ranks) {
  std::vector<std::string> all(std::begin(specs), std::end(specs));
  if ((ranks & (ranks - 1)) == 0) all.push_back("exclusive_or");
  return all;
}

enum class form { blocking, nonblocking, persistent };

// Every rank sends the same number of integers to every rank. One rank may expect more or fewer of them: from rank 0,
// or from all ranks if the calls are those of MPI_Alltoall.
class equal_blocks_of {
 public:
  equal_blocks_of(MPI_Comm comm, int block, int expected, bool uniform)
      : comm_(comm),
        me_(rank_in(comm)),
        ranks_(ranks_of(comm)),
        block_(block),
        uniform_(uniform),
        sent_(ranks_, block),
        at_(ranks_) {
    received_ = sent_;
    received_[0] = expected;
    for (int i = 0; i < ranks_; ++i) at_[i] = i * room();
    send_.resize(static_cast<std::size_t>(ranks_) * (block_ + gap));
    recv_.resize(send_.size());
  }

  void fill(int number) {
    for (int peer = 0; peer < ranks_; ++peer)
      for (int k = 0; k < block_; ++k) send_[at_[peer] + k] = content(me_, peer, k, number);
    std::fill(recv_.begin(), recv_.end(), untouched);
  }
  // Says where a block is wrong; empty if none is.
  std::string fault(int number) const {
    for (int peer = 0; peer < ranks_; ++peer)
      for (int k = 0; k < room(); ++k)
        if (recv_[at_[peer] + k] != (k < block_ ? content(peer, me_, k, number) : untouched))
          return "from " + std::to_string(peer) + ", element " + std::to_string(k);
    return {};
  }
  void give_up() { std::fill(recv_.begin(), recv_.end(), untouched); }
  bool is_untouched() const {
    return std::all_of(recv_.begin(), recv_.end(), [](int value) { return value == untouched; });
  }

  int exchange(form how) {
    const auto* s = send_.data();
    auto* r = recv_.data();
    const int *sc = sent_.data(), *rc = received_.data(), *at = at_.data();
    if (how == form::blocking)
      return uniform_ ? shoal_alltoall(s, block_, MPI_INT, r, rc[0], MPI_INT, comm_)
                      : shoal_alltoallv(s, sc, at, MPI_INT, r, rc, at, MPI_INT, comm_);
    shoal_request request = SHOAL_REQUEST_NULL;
    int code = MPI_SUCCESS;
    if (how == form::nonblocking) {
      code = begin(&request);
      if (code == MPI_SUCCESS) code = shoal_wait(&request);
      EXPECT_EQ(request, SHOAL_REQUEST_NULL);
      return code;
    }
    code = uniform_ ? shoal_alltoall_init(s, block_, MPI_INT, r, rc[0], MPI_INT, comm_, MPI_INFO_NULL, &request)
                    : shoal_alltoallv_init(s, sc, at, MPI_INT, r, rc, at, MPI_INT, comm_, MPI_INFO_NULL, &request);
    EXPECT_EQ(code, MPI_SUCCESS);
    for (int i = 0; i < 2; ++i) {
      EXPECT_EQ(shoal_start(request), MPI_SUCCESS);
      code = shoal_wait(&request);
    }
    EXPECT_EQ(shoal_request_free(&request), MPI_SUCCESS);
    return code;
  }

  int begin(shoal_request* request) {
    if (uniform_)
      return shoal_ialltoall(send_.data(), block_, MPI_INT, recv_.data(), received_[0], MPI_INT, comm_, request);
    return shoal_ialltoallv(send_.data(), sent_.data(), at_.data(), MPI_INT, recv_.data(), received_.data(), at_.data(),
                            MPI_INT, comm_, request);
  }

 private:
  static constexpr int untouched = -7, gap = 3;
  int room() const { return uniform_ ? block_ : block_ + gap; }
  static int content(int from, int to, int k, int number) { return ((from * 16 + to) * 1000 + k) * 16 + number; }

  MPI_Comm comm_;
  int me_, ranks_, block_;
  bool uniform_;
  std::vector<int> sent_, received_, at_, send_, recv_;
};

int class_of(int code) {
  int error_class = code;
  if (code != MPI_SUCCESS) MPI_Error_class(code, &error_class);
  return error_class;
}

// Makes six exchanges. In the second one the last rank expects a wrong size.
void recover(const std::string& spec, form how, int block, int expected, bool uniform = false) {
  SCOPED_TRACE(spec + ", " + std::to_string(expected) + " of " + std::to_string(block) + " expected, form " +
               std::to_string(static_cast<int>(how)));
  doing("recovery of " + spec + " with " + std::to_string(block) + ", form " + std::to_string(static_cast<int>(how)));
  const scoped_comm comm(duplicate_of(MPI_COMM_WORLD));
  const info asked = uniform ? info{{"shoal_alltoall", spec}} : for_exchanges(spec);
  ASSERT_EQ(shoal_comm_set_info(comm, asked), MPI_SUCCESS);
  const bool wrong_here = world_rank() == world_ranks() - 1;
  equal_blocks_of right(comm, block, block, uniform), wrong(comm, block, wrong_here ? expected : block, uniform);
  for (int call = 0; call < 6; ++call) {
    equal_blocks_of& now = call == 1 ? wrong : right;
    now.fill(call);
    const int code = now.exchange(how);
    if (call == 1) {
      if (wrong_here) {
        EXPECT_EQ(class_of(code), expected > 0          ? MPI_ERR_TRUNCATE
                                  : code == MPI_SUCCESS ? MPI_SUCCESS
                                                        : MPI_ERR_TRUNCATE);
      } else if (code == MPI_SUCCESS) {
        EXPECT_EQ(now.fault(call), "");
      }
      now.give_up();
    } else {
      EXPECT_EQ(code, MPI_SUCCESS) << "call " << call;
      EXPECT_EQ(now.fault(call), "") << "call " << call;
    }
  }
  meet();
  EXPECT_TRUE(wrong.is_untouched());
}

void recover_with_all(form how) {
  if (world_ranks() < 2) GTEST_SKIP() << "a rank does not differ with itself";
  // In MPI_Alltoall Open MPI refuses a block from a rank to itself that does not fit, and then the rank takes no part.
  const bool refuses_two_sizes = mpi_name().rfind("Open MPI", 0) == 0;
  for (const int block : {10, 5000, 60000})
    for (const int expected : {block - 3, block + 3}) {
      for (const std::string& spec : specs_for(world_ranks())) recover(spec, how, block, expected);
      if (refuses_two_sizes) continue;
      for (const char* spec : uniform_specs) recover(spec, how, block, expected, true);
    }
}

// A message that nobody receives never meets a later exchange. Blocks are small here: a message that its sender must
// keep until it is received would make the sender wait, as in the MPI's own collective.
TEST(Recovery, WhatIsNotExpectedAtAllIsNeverReceived) {
  if (world_ranks() < 2) GTEST_SKIP() << "a rank does not differ with itself";
  for (const form how : {form::blocking, form::nonblocking, form::persistent})
    for (const char* spec : {"spread_out", "pairwise", "hierarchical:local=shared", "shared"})
      for (const int block : {10, 500}) recover(spec, how, block, 0);
}

TEST(Recovery, TheNextBlockingExchangeIsRight) { recover_with_all(form::blocking); }
TEST(Recovery, TheNextNonblockingExchangeIsRight) { recover_with_all(form::nonblocking); }
TEST(Recovery, TheNextPersistentExchangeIsRight) { recover_with_all(form::persistent); }

// If a rank gives one size for the equal blocks that it sends and another for those that it receives, nothing is read
// or written behind the blocks.
TEST(Recovery, EqualBlocksOfTwoSizesOnOneRankAreAnError) {
  const scoped_comm comm(duplicate_of(MPI_COMM_SELF));
  const int sent[4] = {1, 2, 3, 4};
  for (const char* spec : {"bruck:radix=2", "bruck:radix=2,variant=basic", "tuna:radix=2", "linear", "shared"}) {
    int received[4] = {7, 7, 7, 7};
    const info how = {{"shoal_alltoall", spec}};
    EXPECT_EQ(class_of(shoal_alltoall_with(sent, 2, MPI_INT, received, 4, MPI_INT, comm, how)), MPI_ERR_TRUNCATE)
        << spec;
    EXPECT_EQ(received[2] + received[3], 14) << spec;
    EXPECT_EQ(class_of(shoal_alltoall_with(sent, 4, MPI_INT, received, 2, MPI_INT, comm, how)), MPI_ERR_TRUNCATE)
        << spec;
    EXPECT_EQ(received[2] + received[3], 14) << spec;
  }
}

// The error goes to the error handler that the communicator had when it was freed.
TEST(Recovery, ErrorsAfterTheCommunicatorWasFreedAreRaised) {
  if (world_ranks() < 2) GTEST_SKIP() << "a rank does not differ with itself";
  MPI_Comm comm = duplicate_of(MPI_COMM_WORLD);
  ASSERT_EQ(shoal_comm_set_info(comm, for_exchanges("tuna:radix=2")), MPI_SUCCESS);
  const bool wrong_here = world_rank() == world_ranks() - 1;
  equal_blocks_of wrong(comm, 10, wrong_here ? 7 : 10, false);
  wrong.fill(0);
  shoal_request request = SHOAL_REQUEST_NULL;
  ASSERT_EQ(wrong.begin(&request), MPI_SUCCESS);
  MPI_Comm_free(&comm);
  const int code = shoal_wait(&request);
  if (wrong_here) {
    EXPECT_EQ(class_of(code), MPI_ERR_TRUNCATE);
  }
  EXPECT_EQ(request, SHOAL_REQUEST_NULL);
}

int handled = 0;
void count_error(MPI_Comm*, int*, ...) { ++handled; }

// The error handlers of other communicators, which most often end the program, are not called.
TEST(Recovery, ErrorsAreRaisedOnTheirCommunicatorAlone) {
  if (world_ranks() < 2) GTEST_SKIP() << "a rank does not differ with itself";
  MPI_Errhandler counts;
  MPI_Comm_create_errhandler(count_error, &counts);
  for (const MPI_Comm comm : {MPI_COMM_WORLD, MPI_COMM_SELF}) MPI_Comm_set_errhandler(comm, counts);
  handled = 0;
  for (const char* spec : {"spread_out", "tuna:radix=2", "shared"}) recover(spec, form::blocking, 10, 7);
  EXPECT_EQ(handled, 0);
  for (const MPI_Comm comm : {MPI_COMM_WORLD, MPI_COMM_SELF}) MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Errhandler_free(&counts);
}

}  // namespace
}  // namespace shoal
