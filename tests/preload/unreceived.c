/* The MPI refuses a call of rank 1, so nobody receives what rank 0 sends in it. The communicator is freed, and others
 * like it are made and used. Prints the number of faults. */
#include <mpi.h>
#include <stdio.h>

static int rank, faults;

/* Rank 0 sends `number` to rank 1, which expects `expected` numbers. Returns the error of the call. */
static int exchange(MPI_Comm comm, int number, int expected) {
  int got = -1, sent[2] = {0, rank == 0}, counts[2] = {rank == 1 ? expected : 0, 0}, places[2] = {0, 0};
  const int code = MPI_Alltoallv(&number, sent, places, MPI_INT, &got, counts, places, MPI_INT, comm);
  if (!code && rank == 1 && got != number) ++faults;
  return code;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int round = 0; round < 4; ++round) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    for (int call = 0; call < 3; ++call) faults += exchange(comm, 10 * round + call, 1) != MPI_SUCCESS;
    if (exchange(comm, 10 * round + 9, -1) == MPI_SUCCESS && rank == 1) ++faults;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Comm_free(&comm);
  }
  MPI_Allreduce(MPI_IN_PLACE, &faults, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("faults: %d\n", faults);
  MPI_Finalize();
  return 0;
}
