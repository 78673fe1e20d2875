/* The first reduction in which the ranks agree fails on all of them, and the MPI calls the program's error handler, as
 * if a rank had failed. The program must hear of the error once, and its exchanges must go on. Prints how often the
 * handler was called, how many calls returned an error, and how many results were wrong. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

enum { ranks = 3, calls = 600 };

static int fails, handled;

/* All libraries of the process find this function before the MPI's. */
int PMPI_Iallreduce(const void *sent, void *got, int count, MPI_Datatype type, MPI_Op how, MPI_Comm comm, MPI_Request *request) {
  int (*reduce)(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm, MPI_Request *) = dlsym(RTLD_NEXT, "PMPI_Iallreduce");
  if (fails++ > 0) return reduce(sent, got, count, type, how, comm, request);
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
