/* Preloaded before an MPI: then its MPI_Alltoallv delivers one wrong integer in each block on the last rank. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>

int PMPI_Alltoallv(const void *sendbuf, const int *sendcounts, const int *sdispls, MPI_Datatype sendtype, void *recvbuf,
                   const int *recvcounts, const int *rdispls, MPI_Datatype recvtype, MPI_Comm comm) {
  __typeof__(&PMPI_Alltoallv) right = (__typeof__(&PMPI_Alltoallv))dlsym(RTLD_NEXT, "PMPI_Alltoallv");
  const int code = right(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm);
  int rank, ranks;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  if (rank == ranks - 1)
    for (int i = 0; i < ranks; ++i)
      if (recvcounts[i] > 0) ((int *)recvbuf)[rdispls[i]] ^= 1;
  return code;
}
