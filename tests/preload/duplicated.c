// Makes all-to-alls on a communicator, its very first one included, while MPI_Comm_idup duplicates it. Arguments: how
// many communicators, and how many exchanges on each. Prints the number of faults.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int faults;

static void exchange(MPI_Comm comm, int seed) {
  int ranks, rank, sent[64], received[64];
  MPI_Comm_size(comm, &ranks);
  MPI_Comm_rank(comm, &rank);
  for (int i = 0; i < ranks; ++i) sent[i] = 1000 * rank + i + seed;
  MPI_Alltoall(sent, 1, MPI_INT, received, 1, MPI_INT, comm);
  for (int i = 0; i < ranks; ++i) faults += received[i] != 1000 * i + rank + seed;
}

// Duplicates what is no communicator: the MPI must refuse it, and calls the error handler of MPI_COMM_WORLD.
static void duplicate_nothing(void) {
  MPI_Comm copy;
  MPI_Request request;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  faults += MPI_Comm_idup((MPI_Comm)0, &copy, &request) == MPI_SUCCESS;
}

int main(int argc, char** argv) {
  int rank, all = 0;
  const int times = argc > 1 ? atoi(argv[1]) : 1, calls = argc > 2 ? atoi(argv[2]) : 1;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  duplicate_nothing();
  for (int i = 0; i < times; ++i) {
    MPI_Comm fresh, copy;
    MPI_Request request;
    MPI_Comm_dup(MPI_COMM_WORLD, &fresh);
    MPI_Comm_idup(fresh, &copy, &request);
    if (rank % 2 == 0) MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int k = 0; k < calls; ++k) exchange(fresh, k);
    if (rank % 2 == 1) MPI_Wait(&request, MPI_STATUS_IGNORE);
    exchange(copy, i);
    MPI_Comm_free(&copy);
    MPI_Comm_free(&fresh);
  }
  MPI_Reduce(&faults, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("faults: %d\n", all);
  MPI_Finalize();
  return 0;
}
