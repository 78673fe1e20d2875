/* Ranks with different levels of threads, which MPI allows, exchange on several communicators in turn, with reductions
 * of the program's own in between. Prints the number of faults.
 *
 * Argument: 1 if this rank has threads, else 0. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { comms = 4, calls = 3000, most = 8 };

int main(int argc, char **argv) {
  int rank, ranks, given, faults = 0, sent[most], got[most];
  MPI_Comm all[comms];
  const int has_threads = argc > 1 && atoi(argv[1]);
  MPI_Init_thread(&argc, &argv, has_threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &given);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int i = 0; i < comms; ++i) MPI_Comm_dup(MPI_COMM_WORLD, &all[i]);
  for (int call = 0; call < calls; ++call)
    for (int c = 0; c < comms; ++c) {
      int one = 1, sum = 0;
      MPI_Request open;
      for (int i = 0; i < ranks; ++i) sent[i] = call * 100 + rank * 10 + i;
      MPI_Alltoall(sent, 1, MPI_INT, got, 1, MPI_INT, all[c]);
      for (int i = 0; i < ranks; ++i) faults += got[i] != call * 100 + i * 10 + rank;
      MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, all[c], &open);
      MPI_Wait(&open, MPI_STATUS_IGNORE);
      faults += sum != ranks;
    }
  for (int i = 0; i < comms; ++i) MPI_Comm_free(&all[i]);
  MPI_Allreduce(MPI_IN_PLACE, &faults, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("faults: %d\n", faults);
  MPI_Finalize();
  return 0;
}
