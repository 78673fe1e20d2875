#include "team/mpi_request.hpp"

#include <array>
#include <atomic>

#include "transport/mpi_error.hpp"

namespace shoal {

namespace {

// Of this rank alone, so no other has to know of it.
MPI_Comm own = MPI_COMM_NULL;
int highest_tag = 32767;

MPI_Comm alone() {
  static const int code = [] {
    MPI_Group self = MPI_GROUP_NULL;
    int *bound = nullptr, found = 0;
    require(PMPI_Comm_group(MPI_COMM_SELF, &self), "MPI_Comm_group");
    const int made = PMPI_Comm_create(MPI_COMM_SELF, self, &own);
    PMPI_Group_free(&self);
    if (made == MPI_SUCCESS) PMPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN);
    PMPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &bound, &found);
    if (found) highest_tag = *bound;
    return made;
  }();
  require(code, "MPI_Comm_create");
  return own;
}

// Of as many as can be open at once.
int next_tag() {
  static std::atomic<unsigned> made = 0;
  return static_cast<int>(made++ % static_cast<unsigned>(highest_tag));
}

// Nothing is written, also where a message with a byte comes.
std::array<char, 64> nowhere;

}  // namespace

mpi_request::mpi_request(bool is_persistent) : is_persistent_(is_persistent) {
  const MPI_Comm comm = alone();
  tag_ = next_tag();
  const auto receive = is_persistent ? PMPI_Recv_init : PMPI_Irecv;
  require(receive(nowhere.data(), 0, MPI_BYTE, 0, tag_, comm, &handle_), "making a request");
}

void mpi_request::start() { require(PMPI_Start(&handle_), "MPI_Start"); }

void mpi_request::end(bool with_error) {
  MPI_Request sent = MPI_REQUEST_NULL;
  require(PMPI_Isend(nowhere.data(), with_error, MPI_BYTE, 0, tag_, own, &sent), "ending a request");
  PMPI_Request_free(&sent);
}

void mpi_request::take_back() {
  if (!is_persistent_) end(false);
  if (is_persistent_) PMPI_Request_free(&handle_);
  else PMPI_Wait(&handle_, MPI_STATUS_IGNORE);
}

void mpi_request::finish() {
  if (own != MPI_COMM_NULL) PMPI_Comm_free(&own);
}

}  // namespace shoal
