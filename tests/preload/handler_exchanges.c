/* An error handler makes exchanges itself, on the communicator that had the error, in a program that may have several
 * threads. All ranks make every fiftieth call with wrong arguments. Prints the number of faults, and how often the
 * handler ran. */
#include <mpi.h>
#include <stdio.h>

enum { most_ranks = 8, calls = 600 };

static int faults, handled, is_inside;

static void exchange(MPI_Comm comm) {
  int rank, ranks, sent[most_ranks], got[most_ranks];
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  for (int peer = 0; peer < ranks; ++peer) sent[peer] = 10 * rank + peer;
  MPI_Alltoall(sent, 1, MPI_INT, got, 1, MPI_INT, comm);
  for (int peer = 0; peer < ranks; ++peer) faults += got[peer] != 10 * peer + rank;
}

static void handle(MPI_Comm *comm, int *code, ...) {
  (void)code;
  if (is_inside++ == 0) exchange(*comm);
  --is_inside;
  ++handled;
}

int main(int argc, char **argv) {
  int level, nothing[most_ranks] = {0};
  MPI_Comm comm;
  MPI_Errhandler handler;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_create_errhandler(handle, &handler);
  MPI_Comm_set_errhandler(comm, handler);
  for (int call = 0; call < calls; ++call)
    if (call % 50 == 49) MPI_Alltoall(nothing, -1, MPI_INT, nothing, -1, MPI_INT, comm);
    else exchange(comm);
  MPI_Errhandler_free(&handler);
  MPI_Comm_free(&comm);
  MPI_Finalize();
  printf("faults: %d, handled: %d\n", faults, handled);
  return faults;
}
