// The MPI's own collectives in the forms it has.
#pragma once

#include <mpi.h>

#include "api/alltoall.hpp"

namespace shoal {

// MPI_Alltoall's arguments as those of the general call.
template <typename Count>
alltoall_call uniform_call(const void* send, Count send_count, MPI_Datatype send_type, void* recv, Count recv_count,
                           MPI_Datatype recv_type, MPI_Comm comm) {
  return {true, send, number_array::linear(send_count, 0), number_array::linear(0, send_count), send_type,
          recv, number_array::linear(recv_count, 0), number_array::linear(0, recv_count), recv_type, comm};
}

// MPI_Alltoall_c and MPI_Alltoallv_c. Where the MPI lacks them the arguments are narrowed; MPI_ERR_COUNT when they
// do not fit.
int native_alltoall_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                      MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm);
int native_alltoallv_c(const void* sendbuf, const MPI_Count* sendcounts, const MPI_Aint* sdispls, MPI_Datatype sendtype,
                       void* recvbuf, const MPI_Count* recvcounts, const MPI_Aint* rdispls, MPI_Datatype recvtype,
                       MPI_Comm comm);

}  // namespace shoal
