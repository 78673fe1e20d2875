/* A few exchanges on MPI_COMM_WORLD, and then as many on each of some copies of it. */
#include <mpi.h>

enum { most_ranks = 8, copies = 10, calls = 3 };

static void exchange(MPI_Comm comm) {
  int out[most_ranks] = {0}, in[most_ranks];
  for (int call = 0; call < calls; ++call) MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, comm);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  exchange(MPI_COMM_WORLD);
  for (int i = 0; i < copies; ++i) {
    MPI_Comm copy;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    exchange(copy);
    MPI_Comm_free(&copy);
  }
  return MPI_Finalize();
}
