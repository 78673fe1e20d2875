// What include/shoal/shoal.f90 calls: the functions of shoal.h with Fortran's handles.
#include <mpi.h>

#include <algorithm>

#include "api/shoal_exchange.hpp"
#include "calls/fortran_types.hpp"
#include "shoal/shoal.h"

extern "C" {
[[gnu::visibility("default")]] int shoal_in_place_f = 0;  // its address stands for MPI_IN_PLACE
}

namespace {

const void* buffer(const void* sendbuf) { return sendbuf == &shoal_in_place_f ? MPI_IN_PLACE : sendbuf; }

void give_back(int code, int* ierror) {
  if (ierror) *ierror = code;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

// The arguments of Fortran's functions, as mpi_arguments.hpp has those of C's, and the same arguments in C.
#define EQUAL(count, place)                                                                                   \
  const void *sendbuf, count sendcount, MPI_Fint sendtype, void *recvbuf, count recvcount, MPI_Fint recvtype, \
      MPI_Fint comm
#define EQUAL_IN_C \
  buffer(sendbuf), sendcount, MPI_Type_f2c(sendtype), recvbuf, recvcount, MPI_Type_f2c(recvtype), MPI_Comm_f2c(comm)
#define SIZED(count, place)                                                                             \
  const void *sendbuf, const count *sendcounts, const place *sdispls, MPI_Fint sendtype, void *recvbuf, \
      const count *recvcounts, const place *rdispls, MPI_Fint recvtype, MPI_Fint comm
#define SIZED_IN_C                                                                                                    \
  buffer(sendbuf), sendcounts, sdispls, MPI_Type_f2c(sendtype), recvbuf, recvcounts, rdispls, MPI_Type_f2c(recvtype), \
      MPI_Comm_f2c(comm)
#define GATHERED(count, place)                                                                     \
  const void *sendbuf, count sendcount, MPI_Fint sendtype, void *recvbuf, const count *recvcounts, \
      const place *displs, MPI_Fint recvtype, MPI_Fint comm
#define GATHERED_IN_C                                                                                      \
  buffer(sendbuf), sendcount, MPI_Type_f2c(sendtype), recvbuf, recvcounts, displs, MPI_Type_f2c(recvtype), \
      MPI_Comm_f2c(comm)
#define TYPED(count, place)                                                                                     \
  const void *sendbuf, const count *sendcounts, const place *sdispls, const MPI_Fint *sendtypes, void *recvbuf, \
      const count *recvcounts, const place *rdispls, const MPI_Fint *recvtypes, MPI_Fint comm

// Calls `function` with C's handles of the blocks' types, and with the further arguments that it takes.
#define WITH_TYPES(types, blocks, function, ...)                                                                \
  shoal::with_types(                                                                                            \
      types, [&] { return blocks(MPI_Comm_f2c(comm), buffer(sendbuf) == MPI_IN_PLACE); }, sendtypes, recvtypes, \
      MPI_Comm_f2c(comm),                                                                                       \
      [&](const MPI_Datatype* sent, const MPI_Datatype* received) {                                             \
        return function(buffer(sendbuf), sendcounts, sdispls, sent, recvbuf, recvcounts, rdispls, received,     \
                        MPI_Comm_f2c(comm) __VA_OPT__(, ) __VA_ARGS__);                                         \
      })

#define BLOCKING(function, arguments, ...) \
  void function##_f(arguments(__VA_ARGS__), int* ierror) { give_back(function(arguments##_IN_C), ierror); }
#define BLOCKING_WITH(function, arguments)                             \
  void function##_f(arguments(int, int), MPI_Fint info, int* ierror) { \
    give_back(function(arguments##_IN_C, MPI_Info_f2c(info)), ierror); \
  }
#define NONBLOCKING(function, arguments, ...)                                      \
  void function##_f(arguments(__VA_ARGS__), shoal_request* request, int* ierror) { \
    give_back(function(arguments##_IN_C, request), ierror);                        \
  }
#define PERSISTENT(function, arguments, ...)                                                      \
  void function##_f(arguments(__VA_ARGS__), MPI_Fint info, shoal_request* request, int* ierror) { \
    give_back(function(arguments##_IN_C, MPI_Info_f2c(info), request), ierror);                   \
  }
#define BLOCKING_TYPED(function, blocks, ...)                         \
  void function##_f(TYPED(__VA_ARGS__), int* ierror) {                \
    give_back(WITH_TYPES(shoal::types_of, blocks, function), ierror); \
  }
#define NONBLOCKING_TYPED(function, ...)                                                     \
  void function##_f(TYPED(__VA_ARGS__), shoal_request* request, int* ierror) {               \
    *request = SHOAL_REQUEST_NULL;                                                           \
    give_back(WITH_TYPES(shoal::lasting_types(), shoal::of_all, function, request), ierror); \
  }
#define PERSISTENT_TYPED(function, ...)                                                                   \
  void function##_f(TYPED(__VA_ARGS__), MPI_Fint info, shoal_request* request, int* ierror) {             \
    *request = SHOAL_REQUEST_NULL;                                                                        \
    give_back(WITH_TYPES(shoal::types_of, shoal::of_all, function, MPI_Info_f2c(info), request), ierror); \
  }

// A function, and its form with counts of 64 bits.
#define WITH_64_BITS(kind, function, ...) \
  kind(function, __VA_ARGS__ __VA_OPT__(, ) int, int) kind(function##_c, __VA_ARGS__ __VA_OPT__(, ) MPI_Count, MPI_Aint)

WITH_64_BITS(BLOCKING, shoal_alltoall, EQUAL)
BLOCKING_WITH(shoal_alltoall_with, EQUAL)
WITH_64_BITS(BLOCKING, shoal_alltoallv, SIZED)
BLOCKING_WITH(shoal_alltoallv_with, SIZED)
WITH_64_BITS(BLOCKING_TYPED, shoal_alltoallw, shoal::of_all)
void shoal_alltoallw_with_f(TYPED(int, int), MPI_Fint info, int* ierror) {
  give_back(WITH_TYPES(shoal::types_of, shoal::of_all, shoal_alltoallw_with, MPI_Info_f2c(info)), ierror);
}
WITH_64_BITS(BLOCKING, shoal_allgather, EQUAL)
BLOCKING_WITH(shoal_allgather_with, EQUAL)
WITH_64_BITS(BLOCKING, shoal_allgatherv, GATHERED)
BLOCKING_WITH(shoal_allgatherv_with, GATHERED)
BLOCKING(shoal_neighbor_alltoall, EQUAL, int, int)
BLOCKING(shoal_neighbor_alltoallv, SIZED, int, int)
BLOCKING_TYPED(shoal_neighbor_alltoallw, shoal::of_neighbors, int, MPI_Aint)

WITH_64_BITS(NONBLOCKING, shoal_ialltoall, EQUAL)
WITH_64_BITS(NONBLOCKING, shoal_ialltoallv, SIZED)
WITH_64_BITS(NONBLOCKING_TYPED, shoal_ialltoallw)

WITH_64_BITS(PERSISTENT, shoal_alltoall_init, EQUAL)
WITH_64_BITS(PERSISTENT, shoal_alltoallv_init, SIZED)
WITH_64_BITS(PERSISTENT_TYPED, shoal_alltoallw_init)
PERSISTENT(shoal_allgather_init, EQUAL, int, int)
PERSISTENT(shoal_allgatherv_init, GATHERED, int, int)
#undef WITH_64_BITS
#undef BLOCKING
#undef BLOCKING_WITH
#undef NONBLOCKING
#undef PERSISTENT
#undef BLOCKING_TYPED
#undef NONBLOCKING_TYPED
#undef PERSISTENT_TYPED
#undef WITH_TYPES
#undef EQUAL
#undef EQUAL_IN_C
#undef SIZED
#undef SIZED_IN_C
#undef GATHERED
#undef GATHERED_IN_C
#undef TYPED

void shoal_start_f(const shoal_request* request, int* ierror) { give_back(shoal_start(*request), ierror); }
void shoal_test_f(shoal_request* request, int* flag, int* ierror) { give_back(shoal_test(request, flag), ierror); }
void shoal_wait_f(shoal_request* request, int* ierror) { give_back(shoal_wait(request), ierror); }
void shoal_request_free_f(shoal_request* request, int* ierror) { give_back(shoal_request_free(request), ierror); }

void shoal_exchange_f(int blocks, const int* destinations, const void* sendbuf, const MPI_Count* counts,
                      const MPI_Aint* displs, MPI_Fint datatype, MPI_Fint comm, shoal_arrivals** arrivals,
                      int* ierror) {
  give_back(shoal_exchange(blocks, destinations, sendbuf, counts, displs, MPI_Type_f2c(datatype), MPI_Comm_f2c(comm),
                           arrivals),
            ierror);
}

// `arrivals` is an object of Fortran's, and `put` a function of shoal.f90.
void shoal_iexchange_f(int blocks, const int* destinations, const void* sendbuf, const MPI_Count* counts,
                       const MPI_Aint* displs, MPI_Fint datatype, MPI_Fint comm, void* arrivals,
                       void (*put)(void*, shoal_arrivals*), shoal_request* request, int* ierror) {
  give_back(
      shoal::start_sparse({blocks, destinations, sendbuf, counts, displs, MPI_Type_f2c(datatype), MPI_Comm_f2c(comm)},
                          {arrivals, put}, request),
      ierror);
}

void shoal_arrivals_free_f(shoal_arrivals** arrivals, int* ierror) { give_back(shoal_arrivals_free(arrivals), ierror); }

void shoal_comm_set_info_f(MPI_Fint comm, MPI_Fint info, int* ierror) {
  give_back(shoal_comm_set_info(MPI_Comm_f2c(comm), MPI_Info_f2c(info)), ierror);
}

void shoal_comm_explain_f(MPI_Fint comm, char* text, int size, int* ierror) {
  const int code = shoal_comm_explain(MPI_Comm_f2c(comm), text, size);
  if (code == MPI_SUCCESS) std::fill(std::find(text, text + size, '\0'), text + size, ' ');
  give_back(code, ierror);
}

}  // extern "C"
#pragma GCC visibility pop
