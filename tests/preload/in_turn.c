/* Many communicators of the same ranks, used in turn. Prints the number of their agreements.
 *
 * Arguments: the number of communicators, and the number of calls on each. A third argument, if not 0, is the number of
 * calls on the first communicator; these come before all calls on the others. */
#include "agreements.h"

#include <stdio.h>
#include <stdlib.h>

static int agreements;

static int begin_agreement(MPI_Comm comm) {
  (void)comm;
  ++agreements;
  return MPI_SUCCESS;
}

static int ranks, rank, faults;

static void exchange(int call, MPI_Comm comm, int *sent, int *got) {
  for (int to = 0; to < ranks; ++to) sent[to] = call + rank * 10 + to;
  MPI_Alltoall(sent, 1, MPI_INT, got, 1, MPI_INT, comm);
  for (int from = 0; from < ranks; ++from) faults += got[from] != call + from * 10 + rank;
}

int main(int argc, char **argv) {
  const int communicators = argc > 1 ? atoi(argv[1]) : 1, calls = argc > 2 ? atoi(argv[2]) : 1;
  const int calls_on_first = argc > 3 ? atoi(argv[3]) : 0, first = calls_on_first > 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm *all = malloc(communicators * sizeof *all);
  int *sent = malloc(ranks * sizeof *sent), *got = malloc(ranks * sizeof *got);
  for (int i = 0; i < communicators; ++i) MPI_Comm_dup(MPI_COMM_WORLD, &all[i]);
  for (int call = 0; call < calls_on_first; ++call) exchange(call, all[0], sent, got);
  for (int call = 0; call < calls; ++call)
    for (int i = first; i < communicators; ++i) exchange(call + i, all[i], sent, got);
  for (int i = 0; i < communicators; ++i) MPI_Comm_free(&all[i]);
  if (rank == 0) printf("faults %d, agreements %d\n", faults, agreements);
  MPI_Finalize();
  return faults > 0;
}
