/* The first agreement of the ranks fails on all of them, and the MPI calls the program's error handler, as if a rank
 * had failed. The program must hear of the error once, and its exchanges must go on. Prints how often the handler was
 * called, how many calls returned an error, and how many results were wrong. */
#include "agreements.h"

#include <stdio.h>

enum { ranks = 3, calls = 600 };

static int fails, handled;

static int begin_agreement(MPI_Comm comm) {
  if (fails++ > 0) return MPI_SUCCESS;
  MPI_Comm_call_errhandler(comm, MPI_ERR_OTHER);
  return MPI_ERR_OTHER;
}

static void handler(MPI_Comm *comm, int *code, ...) {
  (void)comm, (void)code;
  ++handled;
}

int main(int argc, char **argv) {
  int rank, wrong = 0, errors = 0, sent[ranks], got[ranks];
  MPI_Errhandler counts;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_create_errhandler(handler, &counts);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, counts);
  for (int call = 0; call < calls; ++call) {
    for (int i = 0; i < ranks; ++i) sent[i] = call * 100 + rank * 10 + i;
    errors += MPI_Alltoall(sent, 1, MPI_INT, got, 1, MPI_INT, MPI_COMM_WORLD) != MPI_SUCCESS;
    for (int i = 0; i < ranks; ++i) wrong += got[i] != call * 100 + i * 10 + rank;
  }
  if (rank == 0) printf("handled %d, errors %d, wrong %d\n", handled, errors, wrong);
  MPI_Finalize();
  return 0;
}
