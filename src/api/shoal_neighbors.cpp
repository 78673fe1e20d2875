// The exchanges among neighbours of shoal.h. The MPI's own are those that do not block, so that what is under way moves.
#include "calls/native.hpp"
#include "calls/native_nonblocking.hpp"
#include "calls/neighbor_alltoall.hpp"
#include "shoal/shoal.h"

using namespace shoal;

extern "C" {

int shoal_neighbor_alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                            MPI_Datatype recvtype, MPI_Comm comm) {
  const neighbor_call call(uniform_call(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm),
                           call_form::equal);
  return neighbor_alltoall(call, manners::strict, [&] {
    return wait_moving([&](MPI_Request* own) {
      return PMPI_Ineighbor_alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, own);
    });
  });
}

int shoal_neighbor_alltoallv(const void* sendbuf, const int* sendcounts, const int* sdispls, MPI_Datatype sendtype,
                             void* recvbuf, const int* recvcounts, const int* rdispls, MPI_Datatype recvtype,
                             MPI_Comm comm) {
  const neighbor_call call(
      varying_call(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm),
      call_form::any_sizes);
  return neighbor_alltoall(call, manners::strict, [&] {
    return wait_moving([&](MPI_Request* own) {
      return PMPI_Ineighbor_alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype,
                                      comm, own);
    });
  });
}

int shoal_neighbor_alltoallw(const void* sendbuf, const int* sendcounts, const MPI_Aint* sdispls,
                             const MPI_Datatype* sendtypes, void* recvbuf, const int* recvcounts,
                             const MPI_Aint* rdispls, const MPI_Datatype* recvtypes, MPI_Comm comm) {
  const neighbor_call call(
      typed_call(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm),
      call_form::any_types);
  return neighbor_alltoall(call, manners::strict, [&] {
    return wait_moving([&](MPI_Request* own) {
      return PMPI_Ineighbor_alltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes,
                                      comm, own);
    });
  });
}

}  // extern "C"
