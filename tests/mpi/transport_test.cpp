// Messages over an MPI that cannot tell which of them failed.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "transport/failure.hpp"
#include "transport/mpi_error.hpp"
#include "transport/mpi_transport.hpp"
#include "together.hpp"

namespace {

bool testing_fails = false;

}  // namespace

// In front of what mpi_transport would call: the MPI's own, or that of a library which is preloaded (late_messages.c).
extern "C" int PMPI_Testsome(int count, MPI_Request requests[], int* ended, int indices[], MPI_Status statuses[]) {
  static const auto next = reinterpret_cast<decltype(&PMPI_Testsome)>(dlsym(RTLD_NEXT, "PMPI_Testsome"));
  *ended = 0;
  return testing_fails ? MPI_ERR_OTHER : next(count, requests, ended, indices, statuses);
}

namespace shoal {
namespace {

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
