/* In an open line each rank exchanges with two neighbours, and the ends have nobody on one side. What they give there as
 * a count is not looked at. */
#include <limits.h>
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
  int rank, ranks, peers[2], counts[2], places[2] = {0, 8}, open = 0, faults = 0;
  char sent[16], got[16];
  MPI_Comm line;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &open, 0, &line);
  MPI_Cart_shift(line, 0, 1, &peers[0], &peers[1]);
  for (int call = 0; call < 5; ++call) {
    for (int i = 0; i < 16; ++i) sent[i] = (char)(rank + call), got[i] = -1;
    for (int i = 0; i < 2; ++i) counts[i] = peers[i] == MPI_PROC_NULL ? INT_MAX : 8;
    MPI_Neighbor_alltoallv(sent, counts, places, MPI_CHAR, got, counts, places, MPI_CHAR, line);
    for (int i = 0; i < 16; ++i) faults += got[i] != (peers[i / 8] == MPI_PROC_NULL ? -1 : peers[i / 8] + call);
  }
  MPI_Allreduce(MPI_IN_PLACE, &faults, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("faults: %d\n", faults);
  MPI_Comm_free(&line);
  MPI_Finalize();
  return faults > 0;
}
