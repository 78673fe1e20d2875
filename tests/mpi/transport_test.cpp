// Messages over an MPI that cannot tell which message failed.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "transport/failure.hpp"
#include "transport/mpi_error.hpp"
#include "transport/mpi_newer.hpp"
#include "transport/mpi_transport.hpp"
#include "transport/waiting.hpp"
#include "together.hpp"

namespace {

int failing_tests = 0;
int handlers_replaced = 0;  // on communicators of the program
bool probes_fail = false;
bool cancels_where_errors_are_returned = true;

template <typename Function>
Function* mpis_own(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

// These functions stand in front of those that mpi_transport would call: the MPI's own, or those of a preloaded library
// (late_messages.c).
extern "C" int PMPI_Testsome(int count, MPI_Request requests[], int* ended, int indices[], MPI_Status statuses[]) {
  static auto* const next = mpis_own<decltype(PMPI_Testsome)>("PMPI_Testsome");
  *ended = 0;
  return failing_tests > 0 && failing_tests-- > 0 ? MPI_ERR_OTHER : next(count, requests, ended, indices, statuses);
}

extern "C" int PMPI_Iprobe(int source, int tag, MPI_Comm comm, int* found, MPI_Status* status) {
  static auto* const next = mpis_own<decltype(PMPI_Iprobe)>("PMPI_Iprobe");
  return probes_fail ? MPI_ERR_OTHER : next(source, tag, comm, found, status);
}

// MPICH raises errors of requests on MPI_COMM_SELF.
extern "C" int PMPI_Cancel(MPI_Request* request) {
  static auto* const next = mpis_own<decltype(PMPI_Cancel)>("PMPI_Cancel");
  MPI_Errhandler now;
  MPI_Comm_get_errhandler(MPI_COMM_SELF, &now);
  cancels_where_errors_are_returned = cancels_where_errors_are_returned && now == MPI_ERRORS_RETURN;
  return next(request);
}

extern "C" int PMPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler handler) {
  static auto* const next = mpis_own<decltype(PMPI_Comm_set_errhandler)>("PMPI_Comm_set_errhandler");
  handlers_replaced += comm == MPI_COMM_SELF || comm == MPI_COMM_WORLD;
  return next(comm, handler);
}

namespace shoal {
namespace {

// Other threads of the program may be setting the handlers. With MPICH before 4.3 Shoal has to replace them.
TEST(ErrorHandlersOfTheProgram, AreLeftAloneWhileMessagesMove) {
#ifndef OPEN_MPI
  if (!shoal_request_is_complete) GTEST_SKIP() << "an MPI in which requests cannot be looked at";
#endif
  if (world_ranks() == 1) GTEST_SKIP() << "a rank with nobody else";
  const scoped_comm comm(duplicate_of(MPI_COMM_WORLD));
  mpi_transport over(comm);
  std::array<int, 4> sent{1, 2, 3}, got{};
  const int before = (world_rank() + world_ranks() - 1) % world_ranks(), behind = (world_rank() + 1) % world_ranks();
  handlers_replaced = 0;
  for (int i = 0; i < 3; ++i) over.receive(before, i, reinterpret_cast<std::byte*>(&got[i]), sizeof(int), i);
  std::vector<ended_transfer> ended;
  over.poll(ended);
  for (int i = 0; i < 3; ++i)
    over.send(behind, i, reinterpret_cast<std::byte*>(&sent[i]), i == 1 ? 2 * sizeof(int) : sizeof(int), 3 + i);
  waiting wait(wait_mode::yield);
  for (; ended.size() < 6; wait.idle()) over.poll(ended);
  EXPECT_EQ(handlers_replaced, 0);
  for (const ended_transfer& one : ended) {
    EXPECT_EQ(one.failure != nullptr, one.ticket == 1) << one.ticket;
    if (one.failure) EXPECT_THROW(raise(one.failure), size_mismatch);
  }
  EXPECT_EQ(got[0], 1);
  EXPECT_EQ(got[2], 3);
}

class Transport : public testing::Test {
 protected:
  Transport() : comm_(duplicate_of(MPI_COMM_SELF)), over_(comm_) { sent_.fill(std::byte{1}); }

  // Begins two receives, and polls while the MPI fails so many times.
  void abandon(int times) {
    over_.receive(0, 1, place_.data(), place_.size(), 5);
    over_.receive(0, 2, place_.data(), place_.size(), 6);
    failing_tests = times;
    EXPECT_NO_THROW(over_.poll(ended_));
    failing_tests = 0;
  }
  // Sends and receives a message with the tag of one of them, and returns what arrived.
  std::array<std::byte, 8> sent_later() {
    std::array<std::byte, 8> later{};
    MPI_Request request;
    MPI_Isend(sent_.data(), 8, MPI_BYTE, 0, 1, comm_, &request);
    MPI_Recv(later.data(), 8, MPI_BYTE, 0, 1, comm_, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return later;
  }

  const scoped_comm comm_;
  mpi_transport over_;
  std::array<std::byte, 8> place_{}, sent_;
  std::vector<ended_transfer> ended_;
};

// And they never write where they would have arrived, as far as Shoal can prevent it.
TEST_F(Transport, AnErrorOfNoMessageAloneEndsAllOfThem) {
  for (const int times : {1, 1 << 20}) {
    ended_.clear();
    abandon(times);
    ASSERT_EQ(ended_.size(), 2u);
    for (const ended_transfer& one : ended_) {
      EXPECT_TRUE(one.abandoned);
      EXPECT_THROW(raise(one.failure), mpi_error);
    }
    EXPECT_EQ(sent_later(), sent_);
    EXPECT_EQ(place_[0], std::byte{0});
  }
}

// The program's error handler, which mostly ends the program, is not called when they end.
TEST_F(Transport, ErrorsOfEndingMessagesAreReturned) {
#ifdef OPEN_MPI
  GTEST_SKIP() << "raises them on the communicators of the requests";
#endif
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
  cancels_where_errors_are_returned = true;
  abandon(1);
  EXPECT_TRUE(cancels_where_errors_are_returned);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
}

// The error of the earlier messages has been told, and later messages have none.
TEST_F(Transport, MovesMessagesAfterAnErrorAndWaitsForWhatComesThroughMemory) {
  abandon(1);
  ended_.clear();
  over_.receive(0, 3, place_.data(), place_.size(), 7);
  over_.send(0, 3, sent_.data(), sent_.size(), 8);
  while (ended_.size() < 2) over_.poll(ended_);
  for (const ended_transfer& one : ended_) EXPECT_FALSE(one.failure) << one.ticket;
  EXPECT_EQ(place_, sent_);
  EXPECT_NO_THROW(over_.poll(ended_)) << "nothing is under way";
  probes_fail = true;
  EXPECT_NO_THROW(over_.poll(ended_)) << "others move no messages";
  probes_fail = false;
}

TEST_F(Transport, NothingComesWhereRanksAreLost) {
  over_.give_up(MPI_ERR_OTHER);
  over_.send(0, 1, sent_.data(), sent_.size(), 7);
  EXPECT_NO_THROW(over_.poll(ended_));
  ASSERT_EQ(ended_.size(), 1u);
  EXPECT_EQ(ended_[0].ticket, 7);
  EXPECT_THROW(raise(ended_[0].failure), mpi_error);
  EXPECT_THROW(over_.poll(ended_), mpi_error) << "nothing else will come";
}

}  // namespace
}  // namespace shoal
