/* MPI_Alltoallv and MPI_Alltoall, so often that Shoal compares algorithms. A block has 2000 bytes: if it passes
 * through, it takes more scratch memory than the test allows. */
#include <mpi.h>
#include <stdio.h>

enum { most = 16, block = 500 };

int main(int argc, char **argv) {
  static int out[most * block], in[most * block];
  int rank, ranks, faults = 0, counts[most], places[most];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int i = 0; i < ranks; ++i) counts[i] = block, places[i] = i * block;
  for (int number = 0; number < 100; ++number) {
    for (int i = 0; i < ranks; ++i) out[i * block] = number * 10000 + rank * 100 + i;
    MPI_Alltoallv(out, counts, places, MPI_INT, in, counts, places, MPI_INT, MPI_COMM_WORLD);
    MPI_Alltoall(out, block, MPI_INT, in, block, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < ranks; ++i) faults += in[i * block] != number * 10000 + i * 100 + rank;
  }
  MPI_Allreduce(MPI_IN_PLACE, &faults, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("faults: %d\n", faults);
  return MPI_Finalize();
}
