/* Rank 0 passes MPI_BOTTOM, and addresses as displacements, which fit in an int only if the program is linked with
 * -no-pie. The other ranks pass their buffers. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>

enum { most = 16, calls = 500 };

static char sent[most], got[most];

int main(int argc, char **argv) {
  int rank, ranks, faults = 0, ones[most], from[most], to[most];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  void *const send = rank == 0 ? MPI_BOTTOM : sent, *const receive = rank == 0 ? MPI_BOTTOM : got;
  for (int i = 0; i < ranks; ++i) {
    ones[i] = 1, sent[i] = rank * ranks + i;
    from[i] = rank == 0 ? (int)(intptr_t)&sent[i] : i, to[i] = rank == 0 ? (int)(intptr_t)&got[i] : i;
  }
  for (int call = 0; call < calls; ++call) {
    for (int i = 0; i < ranks; ++i) got[i] = -1;
    MPI_Alltoallv(send, ones, from, MPI_BYTE, receive, ones, to, MPI_BYTE, MPI_COMM_WORLD);
    for (int i = 0; i < ranks; ++i) faults += got[i] != i * ranks + rank;
  }
  printf("faults: %d\n", faults);
  MPI_Finalize();
  return faults > 0;
}
