// Messages over an MPI that cannot tell which of them failed.
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

bool testing_fails = false;
int handlers_replaced = 0;  // of communicators that are the program's

}  // namespace

// In front of what mpi_transport would call: the MPI's own, or that of a library which is preloaded (late_messages.c).
extern "C" int PMPI_Testsome(int count, MPI_Request requests[], int* ended, int indices[], MPI_Status statuses[]) {
  static const auto next = reinterpret_cast<decltype(&PMPI_Testsome)>(dlsym(RTLD_NEXT, "PMPI_Testsome"));
  *ended = 0;
  return testing_fails ? MPI_ERR_OTHER : next(count, requests, ended, indices, statuses);
}

extern "C" int PMPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler handler) {
  static const auto next =
      reinterpret_cast<decltype(&PMPI_Comm_set_errhandler)>(dlsym(RTLD_NEXT, "PMPI_Comm_set_errhandler"));
  handlers_replaced += comm == MPI_COMM_SELF || comm == MPI_COMM_WORLD;
  return next(comm, handler);
}

namespace shoal {
namespace {

// Other threads of the program may be setting them. MPICH before 4.3 leaves no choice.
TEST(Transport, LeavesErrorHandlersOfTheProgramAlone) {
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

// And never write where they would have arrived.
TEST(Transport, AnErrorOfNoMessageAloneEndsAllOfThem) {
  const scoped_comm comm(duplicate_of(MPI_COMM_SELF));
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  mpi_transport over(comm);
  std::array<std::byte, 8> place{}, sent;
  sent.fill(std::byte{1});
  over.receive(0, 1, place.data(), place.size(), 5);
  over.receive(0, 2, place.data(), place.size(), 6);
  std::vector<ended_transfer> ended;
  testing_fails = true;
  EXPECT_NO_THROW(over.poll(ended));
  testing_fails = false;
  ASSERT_EQ(ended.size(), 2u);
  for (const ended_transfer& one : ended) EXPECT_THROW(raise(one.failure), mpi_error);
  ended.clear();
  over.send(0, 1, sent.data(), sent.size(), 7);
  EXPECT_NO_THROW(over.poll(ended));
  ASSERT_EQ(ended.size(), 1u);
  EXPECT_EQ(ended[0].ticket, 7);
  EXPECT_THROW(raise(ended[0].failure), mpi_error);
  EXPECT_THROW(over.poll(ended), mpi_error) << "nothing else will come";
  MPI_Request request;
  MPI_Isend(sent.data(), 8, MPI_BYTE, 0, 1, comm, &request);
  std::array<std::byte, 8> later{};
  MPI_Recv(later.data(), 8, MPI_BYTE, 0, 1, comm, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  EXPECT_EQ(later, sent);
  EXPECT_EQ(place[0], std::byte{0});
}

}  // namespace
}  // namespace shoal
