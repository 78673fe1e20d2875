// The arguments of MPI's exchanges. Each list stands here once, because many functions take it: with types, where a
// count has the type `count` and a displacement the type `place`, and as names alone.
#pragma once

#include <mpi.h>

// Blocks of one size and one type: MPI_Alltoall, MPI_Allgather.
#define SHOAL_EQUAL(count, place)                                                                                     \
  const void *sendbuf, count sendcount, MPI_Datatype sendtype, void *recvbuf, count recvcount, MPI_Datatype recvtype, \
      MPI_Comm comm
#define SHOAL_EQUAL_NAMES sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm

// Blocks of any sizes: MPI_Alltoallv.
#define SHOAL_SIZED(count, place)                                                                           \
  const void *sendbuf, const count *sendcounts, const place *sdispls, MPI_Datatype sendtype, void *recvbuf, \
      const count *recvcounts, const place *rdispls, MPI_Datatype recvtype, MPI_Comm comm
#define SHOAL_SIZED_NAMES sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm

// Blocks of any sizes and any types: MPI_Alltoallw.
#define SHOAL_TYPED(count, place)                                                                                   \
  const void *sendbuf, const count *sendcounts, const place *sdispls, const MPI_Datatype *sendtypes, void *recvbuf, \
      const count *recvcounts, const place *rdispls, const MPI_Datatype *recvtypes, MPI_Comm comm
#define SHOAL_TYPED_NAMES sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm

// One block to all, blocks of any sizes from all: MPI_Allgatherv.
#define SHOAL_GATHERED(count, place)                                                                   \
  const void *sendbuf, count sendcount, MPI_Datatype sendtype, void *recvbuf, const count *recvcounts, \
      const place *displs, MPI_Datatype recvtype, MPI_Comm comm
#define SHOAL_GATHERED_NAMES sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm
