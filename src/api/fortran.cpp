// What include/shoal/shoal.f90 calls: the functions of shoal.h with Fortran's handles.
#include <mpi.h>

#include <algorithm>

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
#define EQUAL \
  const void *sendbuf, int sendcount, MPI_Fint sendtype, void *recvbuf, int recvcount, MPI_Fint recvtype, MPI_Fint comm
#define EQUAL_IN_C \
  buffer(sendbuf), sendcount, MPI_Type_f2c(sendtype), recvbuf, recvcount, MPI_Type_f2c(recvtype), MPI_Comm_f2c(comm)
#define SIZED                                                                                       \
  const void *sendbuf, const int *sendcounts, const int *sdispls, MPI_Fint sendtype, void *recvbuf, \
      const int *recvcounts, const int *rdispls, MPI_Fint recvtype, MPI_Fint comm
#define SIZED_IN_C                                                                                                    \
  buffer(sendbuf), sendcounts, sdispls, MPI_Type_f2c(sendtype), recvbuf, recvcounts, rdispls, MPI_Type_f2c(recvtype), \
      MPI_Comm_f2c(comm)
#define GATHERED                                                                                                  \
  const void *sendbuf, int sendcount, MPI_Fint sendtype, void *recvbuf, const int *recvcounts, const int *displs, \
      MPI_Fint recvtype, MPI_Fint comm
#define GATHERED_IN_C                                                                                      \
  buffer(sendbuf), sendcount, MPI_Type_f2c(sendtype), recvbuf, recvcounts, displs, MPI_Type_f2c(recvtype), \
      MPI_Comm_f2c(comm)
#define TYPED(place)                                                                                          \
  const void *sendbuf, const int *sendcounts, const place *sdispls, const MPI_Fint *sendtypes, void *recvbuf, \
      const int *recvcounts, const place *rdispls, const MPI_Fint *recvtypes, MPI_Fint comm

// Calls `function` with C's handles of the blocks' types, and with the further arguments that it takes.
#define WITH_TYPES(types, blocks, function, ...)                                                                \
  shoal::with_types(                                                                                            \
      types, [&] { return blocks(MPI_Comm_f2c(comm), buffer(sendbuf) == MPI_IN_PLACE); }, sendtypes, recvtypes, \
      MPI_Comm_f2c(comm),                                                                                       \
      [&](const MPI_Datatype* sent, const MPI_Datatype* received) {                                             \
        return function(buffer(sendbuf), sendcounts, sdispls, sent, recvbuf, recvcounts, rdispls, received,     \
                        MPI_Comm_f2c(comm) __VA_OPT__(, ) __VA_ARGS__);                                         \
      })

#define BLOCKING(function, arguments) \
  void function##_f(arguments, int* ierror) { give_back(function(arguments##_IN_C), ierror); }
#define NONBLOCKING(function, arguments)                              \
  void function##_f(arguments, shoal_request* request, int* ierror) { \
    give_back(function(arguments##_IN_C, request), ierror);           \
  }
#define PERSISTENT(function, arguments)                                              \
  void function##_f(arguments, MPI_Fint info, shoal_request* request, int* ierror) { \
    give_back(function(arguments##_IN_C, MPI_Info_f2c(info), request), ierror);      \
  }

BLOCKING(shoal_alltoall, EQUAL)
BLOCKING(shoal_alltoallv, SIZED)
void shoal_alltoallw_f(TYPED(int), int* ierror) {
  give_back(WITH_TYPES(shoal::types_of, shoal::of_all, shoal_alltoallw), ierror);
}
BLOCKING(shoal_allgather, EQUAL)
BLOCKING(shoal_allgatherv, GATHERED)
BLOCKING(shoal_neighbor_alltoall, EQUAL)
BLOCKING(shoal_neighbor_alltoallv, SIZED)
void shoal_neighbor_alltoallw_f(TYPED(MPI_Aint), int* ierror) {
  give_back(WITH_TYPES(shoal::types_of, shoal::of_neighbors, shoal_neighbor_alltoallw), ierror);
}

NONBLOCKING(shoal_ialltoall, EQUAL)
NONBLOCKING(shoal_ialltoallv, SIZED)
void shoal_ialltoallw_f(TYPED(int), shoal_request* request, int* ierror) {
  *request = SHOAL_REQUEST_NULL;
  give_back(WITH_TYPES(shoal::lasting_types(), shoal::of_all, shoal_ialltoallw, request), ierror);
}

PERSISTENT(shoal_alltoall_init, EQUAL)
PERSISTENT(shoal_alltoallv_init, SIZED)
void shoal_alltoallw_init_f(TYPED(int), MPI_Fint info, shoal_request* request, int* ierror) {
  *request = SHOAL_REQUEST_NULL;
  give_back(WITH_TYPES(shoal::types_of, shoal::of_all, shoal_alltoallw_init, MPI_Info_f2c(info), request), ierror);
}
PERSISTENT(shoal_allgather_init, EQUAL)
PERSISTENT(shoal_allgatherv_init, GATHERED)
#undef BLOCKING
#undef NONBLOCKING
#undef PERSISTENT
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
