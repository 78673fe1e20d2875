// Asking for an algorithm, for a communicator or for a call, rightly and wrongly; and being told what ran.
#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "info.hpp"
#include "oracle.hpp"
#include "shoal/shoal.h"
#include "together.hpp"

namespace shoal {
namespace {

std::string text_of(int code) {
  std::array<char, MPI_MAX_ERROR_STRING + 1> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  return text.data();
}

int class_of(int code) {
  int error_class = MPI_SUCCESS;
  MPI_Error_class(code, &error_class);
  return error_class;
}

int set(MPI_Comm comm, const char* key, const std::string& value) {
  return shoal_comm_set_info(comm, info{{key, value}});
}

int exchange_with(MPI_Comm comm, MPI_Info how) {
  std::vector<int> counts(static_cast<std::size_t>(ranks_of(comm)), 0);
  char send, recv;
  return shoal_alltoallv_with(&send, counts.data(), counts.data(), MPI_BYTE, &recv, counts.data(), counts.data(),
                              MPI_BYTE, comm, how);
}

// Checks that a plain exchange is right, whatever was asked for before.
void still_works(MPI_Comm comm) {
  job j;
  j.comm = comm;
  j.spec = "tuna:radix=3";
  j.scalars = equal_blocks(ranks_of(comm), 12);
  perform(j);
}

class Info : public testing::Test {
 protected:
  void TearDown() override { still_works(comm_); }
  scoped_comm comm_{duplicate_of(MPI_COMM_WORLD)};
};

TEST_F(Info, OfACommunicatorHoldsUntilItIsChanged) {
  for (const char* spec : {"tuna:radix=3", "pairwise", "scattered:block_count=2", "native", "tuna:radix=3"}) {
    ASSERT_EQ(set(comm_, "shoal_alltoallv", spec), MPI_SUCCESS);
    for (int i = 0; i < 2; ++i) {
      ASSERT_EQ(exchange_with(comm_, MPI_INFO_NULL), MPI_SUCCESS);
      EXPECT_EQ(explained(comm_), std::string(spec) + ": asked for");
    }
  }
}

TEST_F(Info, OfACallHoldsForThatCall) {
  ASSERT_EQ(set(comm_, "shoal_alltoallv", "pairwise"), MPI_SUCCESS);
  ASSERT_EQ(exchange_with(comm_, info{{"shoal_alltoallv", "linear"}}), MPI_SUCCESS);
  EXPECT_EQ(explained(comm_), "linear: asked for by this call");
  ASSERT_EQ(exchange_with(comm_, MPI_INFO_NULL), MPI_SUCCESS);
  EXPECT_EQ(used_spec(comm_), "pairwise");
}

TEST_F(Info, AutomaticTakesARequestBack) {
  ASSERT_EQ(set(comm_, "shoal_alltoallv", "scattered:block_count=3"), MPI_SUCCESS);
  ASSERT_EQ(exchange_with(comm_, MPI_INFO_NULL), MPI_SUCCESS);
  ASSERT_EQ(set(comm_, "shoal_alltoallv", "auto"), MPI_SUCCESS);
  ASSERT_EQ(exchange_with(comm_, MPI_INFO_NULL), MPI_SUCCESS);
  EXPECT_EQ(explained(comm_).find("asked for"), std::string::npos) << explained(comm_);
}

TEST_F(Info, KeysOfOneCollectiveLeaveTheOtherAlone) {
  ASSERT_EQ(set(comm_, "shoal_alltoall", "bruck:radix=3"), MPI_SUCCESS);
  ASSERT_EQ(set(comm_, "shoal_alltoallv", "pairwise"), MPI_SUCCESS);
  ASSERT_EQ(set(comm_, "another_key", "true"), MPI_SUCCESS);
  ASSERT_EQ(exchange_with(comm_, info{{"another_key", "true"}}), MPI_SUCCESS);
  EXPECT_EQ(used_spec(comm_), "pairwise");
  std::vector<char> send(ranks_of(comm_)), recv(ranks_of(comm_));
  ASSERT_EQ(shoal_alltoall(send.data(), 1, MPI_BYTE, recv.data(), 1, MPI_BYTE, comm_), MPI_SUCCESS);
  EXPECT_EQ(used_spec(comm_), "bruck:radix=3");
}

TEST_F(Info, WhatRanLastSurvivesANewRequest) {
  ASSERT_EQ(set(comm_, "shoal_alltoallv", "linear"), MPI_SUCCESS);
  ASSERT_EQ(exchange_with(comm_, MPI_INFO_NULL), MPI_SUCCESS);
  ASSERT_EQ(set(comm_, "shoal_alltoallv", "pairwise"), MPI_SUCCESS);
  EXPECT_EQ(used_spec(comm_), "linear");
}

TEST_F(Info, ExplanationIsCutToTheRoomThereIs) {
  ASSERT_EQ(exchange_with(comm_, info{{"shoal_alltoallv", "pairwise"}}), MPI_SUCCESS);
  std::array<char, 5> text{'#', '#', '#', '#', '#'};
  ASSERT_EQ(shoal_comm_explain(comm_, text.data(), 4), MPI_SUCCESS);
  EXPECT_EQ(std::string(text.data()), "pai");
  EXPECT_EQ(text[4], '#');
  EXPECT_EQ(class_of(shoal_comm_explain(comm_, text.data(), 0)), MPI_ERR_ARG);
}

TEST_F(Info, UnusedCommunicatorSaysSo) { EXPECT_NE(explained(comm_).find("nothing was exchanged"), std::string::npos); }

TEST_F(Info, ExchangesAmongNeighboursAreExplainedToo) {
  const int ranks = ranks_of(comm_), closed = 1;
  if (ranks == 1) GTEST_SKIP() << "a rank that is alone has nothing to explain";
  MPI_Comm made;
  MPI_Cart_create(comm_, 1, &ranks, &closed, 0, &made);
  const scoped_comm ring(made);
  ASSERT_EQ(set(ring, "shoal_alltoallv", "linear"), MPI_SUCCESS);
  const std::array<char, 2> sent{};
  std::array<char, 2> got{};
  ASSERT_EQ(shoal_neighbor_alltoall(sent.data(), 1, MPI_CHAR, got.data(), 1, MPI_CHAR, ring), MPI_SUCCESS);
  const std::string edges = explained(ring);
  EXPECT_TRUE(edges.starts_with("native: after 1 call")) << edges;
  ASSERT_EQ(exchange_with(ring, MPI_INFO_NULL), MPI_SUCCESS);
  EXPECT_EQ(explained(ring), "all-to-alls: linear: asked for; among neighbours: " + edges);
}

// ---- wrong values: an error on every rank, which names the value and what is allowed --------------------------

struct wrong {
  const char* spec;
  std::vector<const char*> named;
};

const std::vector<wrong>& wrong_specs() {
  static const std::vector<wrong> all = {
      {"bogus", {"bogus", "tuna"}},
      {"tuna:radix=1", {"radix=1", "whole number from 2"}},
      {"tuna:radix=x", {"radix=x", "whole number from 2"}},
      {"tuna:radix", {"radix", "parameter=value"}},
      {"tuna:depth=3", {"depth", "radix"}},
      {"tuna:radix=99999999999", {"radix=99999999999"}},
      {"scattered:block_count=0", {"block_count=0", "from 1"}},
      {"tuna:", {"tuna"}},
      {":", {"tuna"}},
      {"bruck", {"bruck", "equal blocks"}},
  };
  return all;
}

void expect_error(int code, const wrong& w) {
  ASSERT_NE(code, MPI_SUCCESS) << w.spec;
  EXPECT_NE(text_of(code).find("shoal: "), std::string::npos) << text_of(code);
  for (const char* part : w.named)
    EXPECT_NE(text_of(code).find(part), std::string::npos) << w.spec << ": " << text_of(code);
}

TEST_F(Info, WrongValueOnACommunicatorIsAnErrorAndChangesNothing) {
  ASSERT_EQ(set(comm_, "shoal_alltoallv", "pairwise"), MPI_SUCCESS);
  for (const wrong& w : wrong_specs()) {
    const int code = set(comm_, "shoal_alltoallv", w.spec);
    expect_error(code, w);
    EXPECT_EQ(class_of(code), MPI_ERR_INFO_VALUE);
    ASSERT_EQ(exchange_with(comm_, MPI_INFO_NULL), MPI_SUCCESS);
    EXPECT_EQ(used_spec(comm_), "pairwise");
  }
}

TEST_F(Info, WrongValueOfACallIsAnError) {
  for (const wrong& w : wrong_specs()) {
    expect_error(exchange_with(comm_, info{{"shoal_alltoallv", w.spec}}), w);
    still_works(comm_);
  }
}

// The spec is well formed, but its digits cannot tell so many ranks apart.
TEST_F(Info, SpecThatCannotServeSoManyRanksIsAnErrorEveryTime) {
  if (ranks_of(comm_) < 3) GTEST_SKIP() << "needs 3 ranks";
  const wrong w{"tuna:radices=2", {"radices=2", "ranks"}};
  for (int i = 0; i < 3; ++i) expect_error(exchange_with(comm_, info{{"shoal_alltoallv", w.spec}}), w);
  const int code = set(comm_, "shoal_alltoallv", w.spec);
  expect_error(code, w);
  EXPECT_EQ(class_of(code), MPI_ERR_INFO_VALUE);
}

TEST_F(Info, ValuesThatDifferBetweenRanksAreAnErrorOnAll) {
  if (ranks_of(comm_) < 2) GTEST_SKIP() << "needs 2 ranks";
  const wrong differ{"", {"differ"}};
  for (const char* other : {"linear", "auto", "bogus", "", "tuna:radix=3,inflight=all"}) {
    const std::string mine = world_rank() == world_ranks() - 1 ? other : "tuna:radix=3";
    const int code = mine.empty() ? shoal_comm_set_info(comm_, info{}) : set(comm_, "shoal_alltoallv", mine);
    expect_error(code, differ);
    EXPECT_EQ(class_of(code), MPI_ERR_INFO_VALUE);
    still_works(comm_);
    expect_error(mine.empty() ? exchange_with(comm_, info{}) : exchange_with(comm_, info{{"shoal_alltoallv", mine}}),
                 differ);
  }
}

int handled = 0;
void count_error(MPI_Comm*, int*, ...) { ++handled; }

TEST_F(Info, ErrorsReachTheHandlerOfTheCommunicatorOnce) {
  handled = 0;
  MPI_Errhandler counts;
  MPI_Comm_create_errhandler(count_error, &counts);
  MPI_Comm_set_errhandler(comm_, counts);
  EXPECT_NE(set(comm_, "shoal_alltoallv", "bogus"), MPI_SUCCESS);
  EXPECT_EQ(handled, 1);
  EXPECT_NE(exchange_with(comm_, info{{"shoal_alltoallv", "bogus"}}), MPI_SUCCESS);
  EXPECT_EQ(handled, 2);
  MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
  MPI_Errhandler_free(&counts);
}

// Programs that try again and again must not use up the MPI's error codes, of which there are few.
TEST_F(Info, AnyNumberOfErrorsIsReported) {
  const wrong w{"bogus", {"bogus"}};
  for (int i = 0; i < 10000; ++i) {
    const int code = set(MPI_COMM_SELF, "shoal_alltoallv", w.spec);
    if (i % 1000 == 0 || code == MPI_SUCCESS) expect_error(code, w);
  }
  expect_error(set(MPI_COMM_SELF, "shoal_alltoallv", w.spec), w);
}

}  // namespace
}  // namespace shoal
