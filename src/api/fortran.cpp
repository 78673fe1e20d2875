// What include/shoal/shoal.f90 calls: the functions of shoal.h with Fortran's handles.
#include <mpi.h>

#include <algorithm>
#include <vector>

#include "calls/fortran_types.hpp"
#include "calls/native.hpp"
#include "shoal/shoal.h"
#include "team/boundary.hpp"

namespace {

void give_back(int code, int* ierror) {
  if (ierror) *ierror = code;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int shoal_in_place_f = 0;  // its address is the mark

void shoal_alltoall_f(const void* sendbuf, int sendcount, MPI_Fint sendtype, void* recvbuf, int recvcount,
                      MPI_Fint recvtype, MPI_Fint comm, int* ierror) {
  const bool in_place = sendbuf == &shoal_in_place_f;
  give_back(shoal_alltoall(in_place ? MPI_IN_PLACE : sendbuf, sendcount, MPI_Type_f2c(sendtype), recvbuf, recvcount,
                           MPI_Type_f2c(recvtype), MPI_Comm_f2c(comm)),
            ierror);
}

void shoal_alltoallv_f(const void* sendbuf, const int* sendcounts, const int* sdispls, MPI_Fint sendtype, void* recvbuf,
                       const int* recvcounts, const int* rdispls, MPI_Fint recvtype, MPI_Fint comm, int* ierror) {
  const bool in_place = sendbuf == &shoal_in_place_f;
  give_back(shoal_alltoallv(in_place ? MPI_IN_PLACE : sendbuf, sendcounts, sdispls, MPI_Type_f2c(sendtype), recvbuf,
                            recvcounts, rdispls, MPI_Type_f2c(recvtype), MPI_Comm_f2c(comm)),
            ierror);
}

void shoal_alltoallw_f(const void* sendbuf, const int* sendcounts, const int* sdispls, const MPI_Fint* sendtypes,
                       void* recvbuf, const int* recvcounts, const int* rdispls, const MPI_Fint* recvtypes,
                       MPI_Fint comm, int* ierror) {
  const MPI_Comm of = MPI_Comm_f2c(comm);
  const bool in_place = sendbuf == &shoal_in_place_f;
  const int code = shoal::returning_codes(of, [&] {
    const int ranks = shoal::peers_of(of);
    const std::vector<MPI_Datatype> sent = shoal::types_of(sendtypes, in_place ? 0 : ranks);
    const std::vector<MPI_Datatype> received = shoal::types_of(recvtypes, ranks);
    return shoal::calling_handlers([&] {
      return shoal_alltoallw(in_place ? MPI_IN_PLACE : sendbuf, sendcounts, sdispls, sent.data(), recvbuf, recvcounts,
                             rdispls, received.data(), of);
    });
  });
  give_back(code, ierror);
}

void shoal_allgather_f(const void* sendbuf, int sendcount, MPI_Fint sendtype, void* recvbuf, int recvcount,
                       MPI_Fint recvtype, MPI_Fint comm, int* ierror) {
  const bool in_place = sendbuf == &shoal_in_place_f;
  give_back(shoal_allgather(in_place ? MPI_IN_PLACE : sendbuf, sendcount, MPI_Type_f2c(sendtype), recvbuf, recvcount,
                            MPI_Type_f2c(recvtype), MPI_Comm_f2c(comm)),
            ierror);
}

void shoal_allgatherv_f(const void* sendbuf, int sendcount, MPI_Fint sendtype, void* recvbuf, const int* recvcounts,
                        const int* displs, MPI_Fint recvtype, MPI_Fint comm, int* ierror) {
  const bool in_place = sendbuf == &shoal_in_place_f;
  give_back(shoal_allgatherv(in_place ? MPI_IN_PLACE : sendbuf, sendcount, MPI_Type_f2c(sendtype), recvbuf, recvcounts,
                             displs, MPI_Type_f2c(recvtype), MPI_Comm_f2c(comm)),
            ierror);
}

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
