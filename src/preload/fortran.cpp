// Fortran's names, for Open MPI: its Fortran wrappers call PMPI_ functions, so the C names of preload.c do not see
// these calls. The wrappers of MPICH and Intel MPI call the C names, with few exceptions.
//
// `use mpi` and mpif.h bind to mpi_alltoall in the compiler's mangling. `use mpi_f08` binds to mpi_alltoall_f08_, which
// fetches the handles' integers and calls ompi_alltoall_f. Shoal takes ompi_alltoall_f, because it gets plain
// addresses, whatever the compiler passes to mpi_alltoall_f08_.
#include <mpi.h>

#ifdef OPEN_MPI

#include <cstdint>
#include <utility>
#include <vector>

#include "calls/forms.hpp"
#include "calls/fortran_types.hpp"
#include "preload/fortran_constants.hpp"
#include "team/boundary.hpp"

using namespace shoal;

static_assert(sizeof(MPI_Fint) == sizeof(int), "the counts of a Fortran with 64-bit default integers need copies");

namespace {

void* buffer(void* address) { return fortran_constants::get().in_c(address); }

void give_back(int code, MPI_Fint* ierror) {
  if (ierror) *ierror = code;
}

// Makes a call with C's arguments. Shoal may need memory to find them.
template <typename Call>
int with_arguments_of_c(const MPI_Fint* comm, Call call) {
  return returning_codes(PMPI_Comm_f2c(*comm), [&] { return calling_handlers(call); });
}

// Makes a call that makes a request or changes one, and hands the request back to Fortran.
template <typename Call>
void with_request(MPI_Fint* request, MPI_Fint* ierror, MPI_Request own, Call call) {
  const int code = call(&own);
  if (code == MPI_SUCCESS) *request = PMPI_Request_c2f(own);
  give_back(code, ierror);
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

// The same as shoal_preload_delete() of drop_in.cpp, for a communicator that Fortran names.
using deleting = int(std::intptr_t, std::intptr_t);
int shoal_preload_delete(const MPI_Comm* comm, deleting* function, deleting* instead, std::intptr_t a, std::intptr_t b);
int shoal_preload_delete_in_fortran(const MPI_Fint* comm, deleting* function, deleting* instead, std::intptr_t a,
                                    std::intptr_t b) {
  const MPI_Comm own = PMPI_Comm_f2c(*comm);
  return shoal_preload_delete(&own, function, instead, a, b);
}

// The same for shoal_preload_note_duplicate().
void shoal_preload_note_duplicate(MPI_Comm comm);
void shoal_preload_note_duplicate_in_fortran(const MPI_Fint* comm) {
  shoal_preload_note_duplicate(PMPI_Comm_f2c(*comm));
}

// The arguments of Fortran's functions, as mpi_arguments.hpp has those of C's, and the same arguments in C.
#define EQUAL                                                                                                     \
  void *sendbuf, MPI_Fint *sendcount, MPI_Fint *sendtype, void *recvbuf, MPI_Fint *recvcount, MPI_Fint *recvtype, \
      MPI_Fint *comm
#define EQUAL_IN_C                                                                                              \
  buffer(sendbuf), *sendcount, PMPI_Type_f2c(*sendtype), buffer(recvbuf), *recvcount, PMPI_Type_f2c(*recvtype), \
      PMPI_Comm_f2c(*comm)
#define SIZED                                                                                                      \
  void *sendbuf, MPI_Fint *sendcounts, MPI_Fint *sdispls, MPI_Fint *sendtype, void *recvbuf, MPI_Fint *recvcounts, \
      MPI_Fint *rdispls, MPI_Fint *recvtype, MPI_Fint *comm
#define SIZED_IN_C                                                                                      \
  buffer(sendbuf), sendcounts, sdispls, PMPI_Type_f2c(*sendtype), buffer(recvbuf), recvcounts, rdispls, \
      PMPI_Type_f2c(*recvtype), PMPI_Comm_f2c(*comm)
#define GATHERED                                                                                                 \
  void *sendbuf, MPI_Fint *sendcount, MPI_Fint *sendtype, void *recvbuf, MPI_Fint *recvcounts, MPI_Fint *displs, \
      MPI_Fint *recvtype, MPI_Fint *comm
#define GATHERED_IN_C                                                                         \
  buffer(sendbuf), *sendcount, PMPI_Type_f2c(*sendtype), buffer(recvbuf), recvcounts, displs, \
      PMPI_Type_f2c(*recvtype), PMPI_Comm_f2c(*comm)
#define TYPED(place)                                                                                             \
  void *sendbuf, MPI_Fint *sendcounts, place *sdispls, MPI_Fint *sendtypes, void *recvbuf, MPI_Fint *recvcounts, \
      place *rdispls, MPI_Fint *recvtypes, MPI_Fint *comm

// Calls a function of the form `form` with C's arguments.
#define WITH_TYPES(types, blocks, form, function, ...)                                                            \
  with_types(                                                                                                     \
      types, [&] { return blocks(PMPI_Comm_f2c(*comm), buffer(sendbuf) == MPI_IN_PLACE); }, sendtypes, recvtypes, \
      PMPI_Comm_f2c(*comm),                                                                                       \
      [&](const MPI_Datatype* sent, const MPI_Datatype* received) {                                               \
        return forms::form.function(__VA_ARGS__, buffer(sendbuf), sendcounts, sdispls, sent, buffer(recvbuf),     \
                                    recvcounts, rdispls, received, PMPI_Comm_f2c(*comm));                         \
      })

// The same function under its other names.
#define SAME_AS(name) __attribute__((alias(#name)))
#define ALL_NAMES(lower, upper)                                                                          \
  decltype(mpi_##lower##_) mpi_##lower SAME_AS(mpi_##lower##_), mpi_##lower##__ SAME_AS(mpi_##lower##_), \
      MPI_##upper SAME_AS(mpi_##lower##_), ompi_##lower##_f SAME_AS(mpi_##lower##_);

#define BLOCKING(form, upper, arguments)                                                              \
  void mpi_##form##_(arguments, MPI_Fint* ierror) {                                                   \
    const int code = with_arguments_of_c(                                                             \
        comm, [&] { return forms::form.blocking(interface::mpi, MPI_INFO_NULL, arguments##_IN_C); }); \
    give_back(code, ierror);                                                                          \
  }                                                                                                   \
  ALL_NAMES(form, upper)
#define NONBLOCKING(form, upper, arguments)                                                              \
  void mpi_##form##_(arguments, MPI_Fint* request, MPI_Fint* ierror) {                                   \
    with_request(request, ierror, MPI_REQUEST_NULL, [&](MPI_Request* made) {                             \
      return with_arguments_of_c(comm, [&] { return forms::form.nonblocking(made, arguments##_IN_C); }); \
    });                                                                                                  \
  }                                                                                                      \
  ALL_NAMES(form, upper)
#define PERSISTENT(form, upper, arguments)                                                             \
  void mpi_##form##_(arguments, MPI_Fint* info, MPI_Fint* request, MPI_Fint* ierror) {                 \
    with_request(request, ierror, MPI_REQUEST_NULL, [&](MPI_Request* made) {                           \
      return with_arguments_of_c(                                                                      \
          comm, [&] { return forms::form.persistent(PMPI_Info_f2c(*info), made, arguments##_IN_C); }); \
    });                                                                                                \
  }                                                                                                    \
  ALL_NAMES(form, upper)
#define BLOCKING_TYPED(form, upper, place, blocks)                                                  \
  void mpi_##form##_(TYPED(place), MPI_Fint* ierror) {                                              \
    give_back(WITH_TYPES(types_of, blocks, form, blocking, interface::mpi, MPI_INFO_NULL), ierror); \
  }                                                                                                 \
  ALL_NAMES(form, upper)
#define NONBLOCKING_TYPED(form, upper, place, blocks)                                                              \
  void mpi_##form##_(TYPED(place), MPI_Fint* request, MPI_Fint* ierror) {                                          \
    with_request(request, ierror, MPI_REQUEST_NULL,                                                                \
                 [&](MPI_Request* made) { return WITH_TYPES(lasting_types(), blocks, form, nonblocking, made); }); \
  }                                                                                                                \
  ALL_NAMES(form, upper)
#define PERSISTENT_TYPED(form, upper, place, blocks)                                            \
  void mpi_##form##_(TYPED(place), MPI_Fint* info, MPI_Fint* request, MPI_Fint* ierror) {       \
    with_request(request, ierror, MPI_REQUEST_NULL, [&](MPI_Request* made) {                    \
      return WITH_TYPES(lasting_types(), blocks, form, persistent, PMPI_Info_f2c(*info), made); \
    });                                                                                         \
  }                                                                                             \
  ALL_NAMES(form, upper)

BLOCKING(alltoall, ALLTOALL, EQUAL)
BLOCKING(alltoallv, ALLTOALLV, SIZED)
BLOCKING_TYPED(alltoallw, ALLTOALLW, MPI_Fint, of_all)
BLOCKING(allgather, ALLGATHER, EQUAL)
BLOCKING(allgatherv, ALLGATHERV, GATHERED)
BLOCKING(neighbor_alltoall, NEIGHBOR_ALLTOALL, EQUAL)
BLOCKING(neighbor_alltoallv, NEIGHBOR_ALLTOALLV, SIZED)
BLOCKING_TYPED(neighbor_alltoallw, NEIGHBOR_ALLTOALLW, MPI_Aint, of_neighbors)

NONBLOCKING(ialltoall, IALLTOALL, EQUAL)
NONBLOCKING(ialltoallv, IALLTOALLV, SIZED)
NONBLOCKING_TYPED(ialltoallw, IALLTOALLW, MPI_Fint, of_all)
NONBLOCKING(ineighbor_alltoall, INEIGHBOR_ALLTOALL, EQUAL)
NONBLOCKING(ineighbor_alltoallv, INEIGHBOR_ALLTOALLV, SIZED)
NONBLOCKING_TYPED(ineighbor_alltoallw, INEIGHBOR_ALLTOALLW, MPI_Aint, of_neighbors)

PERSISTENT(alltoall_init, ALLTOALL_INIT, EQUAL)
PERSISTENT(alltoallv_init, ALLTOALLV_INIT, SIZED)
PERSISTENT_TYPED(alltoallw_init, ALLTOALLW_INIT, MPI_Fint, of_all)
PERSISTENT(neighbor_alltoall_init, NEIGHBOR_ALLTOALL_INIT, EQUAL)
PERSISTENT(neighbor_alltoallv_init, NEIGHBOR_ALLTOALLV_INIT, SIZED)
PERSISTENT_TYPED(neighbor_alltoallw_init, NEIGHBOR_ALLTOALLW_INIT, MPI_Aint, of_neighbors)

void mpi_start_(MPI_Fint* request, MPI_Fint* ierror) {
  with_request(request, ierror, PMPI_Request_f2c(*request), start_request);
}

void mpi_startall_(MPI_Fint* count, MPI_Fint* requests, MPI_Fint* ierror) {
  const int code = returning_codes(MPI_COMM_SELF, [&] {
    std::vector<MPI_Request> own;
    for (int i = 0; i < *count; ++i) own.push_back(PMPI_Request_f2c(requests[i]));
    const int started = calling_handlers([&] { return start_requests(*count, own.data()); });
    for (int i = 0; i < *count && started == MPI_SUCCESS; ++i) requests[i] = PMPI_Request_c2f(own[i]);
    return started;
  });
  give_back(code, ierror);
}

void mpi_request_free_(MPI_Fint* request, MPI_Fint* ierror) {
  with_request(request, ierror, PMPI_Request_f2c(*request), free_request);
}

ALL_NAMES(start, START)
ALL_NAMES(startall, STARTALL)
ALL_NAMES(request_free, REQUEST_FREE)

#undef EQUAL
#undef EQUAL_IN_C
#undef SIZED
#undef SIZED_IN_C
#undef GATHERED
#undef GATHERED_IN_C
#undef TYPED
#undef WITH_TYPES
#undef SAME_AS
#undef ALL_NAMES
#undef BLOCKING
#undef NONBLOCKING
#undef PERSISTENT
#undef BLOCKING_TYPED
#undef NONBLOCKING_TYPED
#undef PERSISTENT_TYPED

}  // extern "C"
#pragma GCC visibility pop

#elif defined(MPICH_NAME)  // the standard ABI knows no Fortran

#include "calls/open_exchange.hpp"

// MPICH's `use mpi_f08` calls PMPI_ functions if only handles are passed. The handles are C's there.
#pragma GCC visibility push(default)
extern "C" {

void mpi_start_f08_(MPI_Request* request, MPI_Fint* ierror) {
  const int code = shoal::start_request(request);
  if (ierror) *ierror = code;
}

void mpi_startall_f08_(const MPI_Fint* count, MPI_Request* requests, MPI_Fint* ierror) {
  const int code = shoal::start_requests(*count, requests);
  if (ierror) *ierror = code;
}

void mpi_request_free_f08_(MPI_Request* request, MPI_Fint* ierror) {
  const int code = shoal::free_request(request);
  if (ierror) *ierror = code;
}

}  // extern "C"
#pragma GCC visibility pop

#endif  // OPEN_MPI
