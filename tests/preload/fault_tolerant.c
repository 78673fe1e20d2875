// fault_tolerant revoked|dead: the last rank revokes the communicator on which the others exchange, or it dies. The
// others get the same errors as without Shoal, and the living ranks go on with a communicator of their own. With
// -DSPARSE the ranks exchange by shoal_iexchange().
#include <mpi.h>
// after mpi.h
#include <mpi-ext.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { numbers = 1000, most_ranks = 8 };

#ifdef SPARSE
#include <shoal/shoal.h>

static int to_each(int ranks, const int* out, int* in, MPI_Comm comm) {
  int to[most_ranks];
  MPI_Count counts[most_ranks];
  MPI_Aint at[most_ranks];
  for (int i = 0; i < ranks; ++i) to[i] = i, counts[i] = numbers, at[i] = (MPI_Aint)i * numbers;
  shoal_arrivals* came[2] = {NULL, NULL};
  shoal_request open[2] = {SHOAL_REQUEST_NULL, SHOAL_REQUEST_NULL};  // the second exchange waits for the first
  int code = MPI_SUCCESS;
  for (int i = 0; i < 2 && code == MPI_SUCCESS; ++i)
    code = shoal_iexchange(ranks, to, out, counts, at, MPI_INT, comm, &came[i], &open[i]);
  for (int i = 0; i < 2; ++i) {
    const int ended = shoal_wait(&open[i]);
    if (code == MPI_SUCCESS) code = ended;
  }
  if (code == MPI_SUCCESS) memcpy(in, came[1]->data, (size_t)(ranks * numbers) * sizeof *in);
  for (int i = 0; i < 2; ++i) shoal_arrivals_free(&came[i]);
  return code;
}
#else
static int to_each(int ranks, const int* out, int* in, MPI_Comm comm) {
  (void)ranks;
  return MPI_Alltoall(out, numbers, MPI_INT, in, numbers, MPI_INT, comm);
}
#endif

static int exchange(MPI_Comm comm) {
  static int out[most_ranks * numbers], in[most_ranks * numbers];
  int rank, ranks;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  for (int i = 0; i < ranks * numbers; ++i) out[i] = rank * 1000000 + i;
  const int code = to_each(ranks, out, in, comm);
  for (int from = 0; code == MPI_SUCCESS && from < ranks; ++from)
    for (int i = 0; i < numbers; ++i)
      if (in[from * numbers + i] != from * 1000000 + rank * numbers + i) return printf("wrong data\n"), MPI_ERR_OTHER;
  return code;
}

// Ends the job unless the class of `code` is `first` or `second`.
static void require_class(int code, int first, int second, const char* where) {
  int found = MPI_SUCCESS;
  MPI_Error_class(code, &found);
  if (found == first || found == second) return;
  char text[MPI_MAX_ERROR_STRING];
  int length;
  MPI_Error_string(code, text, &length);
  printf("%s: class %d: %s\n", where, found, text);
  fflush(stdout);
  MPI_Abort(MPI_COMM_WORLD, 3);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int dies = argc > 1 && !strcmp(argv[1], "dead");
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm comm, left;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  for (int i = 0; i < 3; ++i) require_class(exchange(comm), MPI_SUCCESS, MPI_SUCCESS, "before");
  MPI_Barrier(MPI_COMM_WORLD);  // without it a rank that is still in the last exchange would get the error there
  if (rank == ranks - 1 && dies) raise(SIGKILL);
  if (rank == ranks - 1) MPIX_Comm_revoke(comm);
  else require_class(exchange(comm), MPIX_ERR_REVOKED, dies ? MPIX_ERR_PROC_FAILED : MPIX_ERR_REVOKED, "exchange");
  MPIX_Comm_revoke(comm);
  require_class(exchange(comm), MPIX_ERR_REVOKED, MPIX_ERR_REVOKED, "afterwards");
  MPIX_Comm_shrink(comm, &left);
  for (int i = 0; i < 3; ++i) require_class(exchange(left), MPI_SUCCESS, MPI_SUCCESS, "on what is left");
  MPI_Comm_free(&left);
  MPI_Comm_free(&comm);
  if (rank == 0) printf("went on\n");
  MPI_Finalize();
  return 0;
}
