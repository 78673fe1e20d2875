/* Exchanges that soon become too large for the memory that the ranks share, where the system gives such memory only once.
 * Prints the number of faults, and how often rank 0 asked for more memory. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { most_ranks = 8, small = 16, large = 4096, calls = 2000 }; /* ints in a block */

static int given, refused;

/* All libraries of the process find this function before the system's. */
int memfd_create(const char *name, unsigned flags) {
  int (*systems)(const char *, unsigned) = (int (*)(const char *, unsigned))dlsym(RTLD_NEXT, "memfd_create");
  if (strcmp(name, "shoal") != 0 || !given++) return systems(name, flags);
  ++refused;
  errno = ENOSPC;
  return -1;
}

int main(int argc, char **argv) {
  static int out[most_ranks * large], in[most_ranks * large];
  int rank, ranks, faults = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int call = 0; call < 2 * calls; ++call) {
    const int block = call < calls ? small : large;
    for (int i = 0; i < ranks; ++i) out[i * block + block - 1] = call * 100 + rank * 10 + i;
    MPI_Alltoall(out, block, MPI_INT, in, block, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < ranks; ++i) faults += in[i * block + block - 1] != call * 100 + i * 10 + rank;
  }
  MPI_Allreduce(MPI_IN_PLACE, &faults, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("faults: %d, refused: %d\n", faults, refused);
  return MPI_Finalize();
}
