// The drop-in calls behind every binding: C and Fortran arguments end up here once they are C's.
#pragma once

#include <mpi.h>

#include "calls/allgather.hpp"
#include "calls/alltoall.hpp"
#include "calls/native.hpp"
#include "calls/open_exchange.hpp"
#include "transport/mpi_newer.hpp"

namespace shoal {

inline int serve_alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                          MPI_Datatype recvtype, MPI_Comm comm) {
  return alltoall(uniform_call(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm), manners::drop_in,
                  MPI_INFO_NULL,
                  [&] { return PMPI_Alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm); });
}

inline int serve_alltoallv(const void* sendbuf, const int* sendcounts, const int* sdispls, MPI_Datatype sendtype,
                           void* recvbuf, const int* recvcounts, const int* rdispls, MPI_Datatype recvtype,
                           MPI_Comm comm) {
  const auto call = varying_call(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm);
  return alltoall(call, manners::drop_in, MPI_INFO_NULL, [&] {
    return PMPI_Alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm);
  });
}

inline int serve_alltoallw(const void* sendbuf, const int* sendcounts, const int* sdispls,
                           const MPI_Datatype* sendtypes, void* recvbuf, const int* recvcounts, const int* rdispls,
                           const MPI_Datatype* recvtypes, MPI_Comm comm) {
  const auto call = typed_call(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm);
  return alltoall(call, manners::drop_in, MPI_INFO_NULL, [&] {
    return PMPI_Alltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm);
  });
}

inline int serve_ialltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                           MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request) {
  return start_alltoall(uniform_call(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm), request, [&] {
    return PMPI_Ialltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request);
  });
}

inline int serve_ialltoallv(const void* sendbuf, const int* sendcounts, const int* sdispls, MPI_Datatype sendtype,
                            void* recvbuf, const int* recvcounts, const int* rdispls, MPI_Datatype recvtype,
                            MPI_Comm comm, MPI_Request* request) {
  const auto call = varying_call(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm);
  return start_alltoall(call, request, [&] {
    return PMPI_Ialltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm,
                           request);
  });
}

inline int serve_ialltoallw(const void* sendbuf, const int* sendcounts, const int* sdispls,
                            const MPI_Datatype* sendtypes, void* recvbuf, const int* recvcounts, const int* rdispls,
                            const MPI_Datatype* recvtypes, MPI_Comm comm, MPI_Request* request) {
  const auto call = typed_call(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm);
  return start_alltoall(call, request, [&] {
    return PMPI_Ialltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm,
                           request);
  });
}

// Called only where the MPI has them.
inline int serve_alltoall_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                               MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return prepare_alltoall(
      uniform_call(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm), info, request, [&] {
        return PMPI_Alltoall_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, info, request);
      });
}

inline int serve_alltoallv_init(const void* sendbuf, const int* sendcounts, const int* sdispls, MPI_Datatype sendtype,
                                void* recvbuf, const int* recvcounts, const int* rdispls, MPI_Datatype recvtype,
                                MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  const auto call = varying_call(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm);
  return prepare_alltoall(call, info, request, [&] {
    return PMPI_Alltoallv_init(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm,
                               info, request);
  });
}

inline int serve_alltoallw_init(const void* sendbuf, const int* sendcounts, const int* sdispls,
                                const MPI_Datatype* sendtypes, void* recvbuf, const int* recvcounts, const int* rdispls,
                                const MPI_Datatype* recvtypes, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  const auto call = typed_call(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm);
  return prepare_alltoall(call, info, request, [&] {
    return PMPI_Alltoallw_init(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm,
                               info, request);
  });
}

inline int serve_allgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                           MPI_Datatype recvtype, MPI_Comm comm) {
  return allgather(gather_call(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm), manners::drop_in,
                   MPI_INFO_NULL,
                   [&] { return PMPI_Allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm); });
}

inline int serve_allgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                            const int* recvcounts, const int* displs, MPI_Datatype recvtype, MPI_Comm comm) {
  const auto call = gather_call(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm);
  return allgather(call, manners::drop_in, MPI_INFO_NULL, [&] {
    return PMPI_Allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm);
  });
}

}  // namespace shoal
