#include "team/mpi_request.hpp"

#include <array>
#include <atomic>

#include "team/rank_communicator.hpp"
#include "transport/mpi_error.hpp"

namespace shoal {

namespace {

// Of as many as can be open at once.
int next_tag() {
  static const unsigned highest = [] {
    int *bound = nullptr, found = 0;
    PMPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &bound, &found);
    return static_cast<unsigned>(found ? *bound : 32767);
  }();
  static std::atomic<unsigned> made = 0;
  return static_cast<int>(made++ % highest);
}

// Nothing is written, also where a message with a byte comes.
std::array<char, 64> nowhere;

}  // namespace

mpi_request::mpi_request(bool is_persistent) : is_persistent_(is_persistent) {
  const MPI_Comm comm = rank_communicator();
  tag_ = next_tag();
  const auto receive = is_persistent ? PMPI_Recv_init : PMPI_Irecv;
  require(receive(nowhere.data(), 0, MPI_BYTE, 0, tag_, comm, &handle_), "making a request");
}

void mpi_request::start() { require(PMPI_Start(&handle_), "MPI_Start"); }

void mpi_request::end(bool with_error) {
  MPI_Request sent = MPI_REQUEST_NULL;
  require(PMPI_Isend(nowhere.data(), with_error, MPI_BYTE, 0, tag_, rank_communicator(), &sent), "ending a request");
  PMPI_Request_free(&sent);
}

void mpi_request::take_back() {
  if (!is_persistent_) end(false);
  if (is_persistent_) PMPI_Request_free(&handle_);
  else PMPI_Wait(&handle_, MPI_STATUS_IGNORE);
}

}  // namespace shoal
