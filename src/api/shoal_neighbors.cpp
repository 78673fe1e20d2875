// The exchanges among neighbours of shoal.h.
#include "calls/native.hpp"
#include "calls/native_nonblocking.hpp"
#include "calls/neighbor_alltoall.hpp"
#include "shoal/shoal.h"

using namespace shoal;

namespace {

// The MPI's own, behind a barrier in which what is under way moves: no rank then waits for another that is not here. The
// nonblocking forms will not do, because in Open MPI they match the edges of small grids in another order.
template <typename Native>
int together(MPI_Comm comm, Native native) {
  const int code = wait_moving([comm](MPI_Request* own) { return PMPI_Ibarrier(comm, own); });
  return code == MPI_SUCCESS ? native() : code;
}

}  // namespace

extern "C" {

int shoal_neighbor_alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                            MPI_Datatype recvtype, MPI_Comm comm) {
  const neighbor_call call(uniform_call(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm));
  return neighbor_alltoall(call, manners::strict, [&] {
    return together(
        comm, [&] { return PMPI_Neighbor_alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm); });
  });
}

int shoal_neighbor_alltoallv(const void* sendbuf, const int* sendcounts, const int* sdispls, MPI_Datatype sendtype,
                             void* recvbuf, const int* recvcounts, const int* rdispls, MPI_Datatype recvtype,
                             MPI_Comm comm) {
  const neighbor_call call(
      varying_call(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm));
  return neighbor_alltoall(call, manners::strict, [&] {
    return together(comm, [&] {
      return PMPI_Neighbor_alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype,
                                     comm);
    });
  });
}

int shoal_neighbor_alltoallw(const void* sendbuf, const int* sendcounts, const MPI_Aint* sdispls,
                             const MPI_Datatype* sendtypes, void* recvbuf, const int* recvcounts,
                             const MPI_Aint* rdispls, const MPI_Datatype* recvtypes, MPI_Comm comm) {
  const neighbor_call call(
      typed_call(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm));
  return neighbor_alltoall(call, manners::strict, [&] {
    return together(comm, [&] {
      return PMPI_Neighbor_alltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes,
                                     comm);
    });
  });
}

}  // extern "C"
