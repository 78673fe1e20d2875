// fault_tolerant revoked|dead WAY: the last rank revokes the communicator on which the others exchange, or it dies. The
// others get the same errors as without Shoal, and the living ranks go on with a communicator of their own. `ways` lists
// the ways to exchange. Those by requests of shoal.h are there with -DLINKED.
#include <mpi.h>
// after mpi.h
#include <mpi-ext.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { numbers = 1000, most_ranks = 8 };

#ifdef LINKED
#include <shoal/shoal.h>

static int sparse(int ranks, const int* out, int* in, MPI_Comm comm) {
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

static int nonblocking_of_shoal(int ranks, const int* out, int* in, MPI_Comm comm) {
  (void)ranks;
  shoal_request open;
  const int code = shoal_ialltoall(out, numbers, MPI_INT, in, numbers, MPI_INT, comm, &open);
  return code == MPI_SUCCESS ? shoal_wait(&open) : code;
}

static shoal_request kept_of_shoal = SHOAL_REQUEST_NULL;

static int persistent_of_shoal(int ranks, const int* out, int* in, MPI_Comm comm) {
  static MPI_Comm prepared_for = MPI_COMM_NULL;
  (void)ranks;
  int code = MPI_SUCCESS;
  if (prepared_for != comm) {
    shoal_request_free(&kept_of_shoal);
    code = shoal_alltoall_init(out, numbers, MPI_INT, in, numbers, MPI_INT, comm, MPI_INFO_NULL, &kept_of_shoal);
    prepared_for = comm;
  }
  if (code == MPI_SUCCESS) code = shoal_start(kept_of_shoal);
  return code == MPI_SUCCESS ? shoal_wait(&kept_of_shoal) : code;
}
#endif

static int equal(int ranks, const int* out, int* in, MPI_Comm comm) {
  (void)ranks;
  return MPI_Alltoall(out, numbers, MPI_INT, in, numbers, MPI_INT, comm);
}

static int sized(int ranks, const int* out, int* in, MPI_Comm comm) {
  int counts[most_ranks], at[most_ranks];
  for (int i = 0; i < ranks; ++i) counts[i] = numbers, at[i] = i * numbers;
  return MPI_Alltoallv(out, counts, at, MPI_INT, in, counts, at, MPI_INT, comm);
}

static int nonblocking(int ranks, const int* out, int* in, MPI_Comm comm) {
  (void)ranks;
  MPI_Request open;
  const int code = MPI_Ialltoall(out, numbers, MPI_INT, in, numbers, MPI_INT, comm, &open);
  return code == MPI_SUCCESS ? MPI_Wait(&open, MPI_STATUS_IGNORE) : code;
}

// The request of persistent() stays for the next exchange on the same communicator. The buffers are always the same.
static MPI_Request kept = MPI_REQUEST_NULL;

static int persistent(int ranks, const int* out, int* in, MPI_Comm comm) {
  static MPI_Comm prepared_for = MPI_COMM_NULL;
  (void)ranks;
  int code = MPI_SUCCESS;
  if (prepared_for != comm) {
    if (kept != MPI_REQUEST_NULL) MPI_Request_free(&kept);
    code = MPI_Alltoall_init(out, numbers, MPI_INT, in, numbers, MPI_INT, comm, MPI_INFO_NULL, &kept);
    prepared_for = comm;
  }
  if (code == MPI_SUCCESS) code = MPI_Start(&kept);
  return code == MPI_SUCCESS ? MPI_Wait(&kept, MPI_STATUS_IGNORE) : code;
}

static int gathered(int ranks, const int* out, int* in, MPI_Comm comm) {
  (void)ranks;
  return MPI_Allgather(out, numbers, MPI_INT, in, numbers, MPI_INT, comm);
}
static const struct way {
  const char* name;
  int (*call)(int ranks, const int* out, int* in, MPI_Comm comm);  // `ranks`: that this rank exchanges with
  int is_between_groups;
} ways[] = {
    {"equal", equal, 0},
    {"sized", sized, 0},
    {"nonblocking", nonblocking, 0},
    {"persistent", persistent, 0},
    {"gathered", gathered, 1},
#ifdef LINKED
    {"sparse", sparse, 0},
    {"nonblocking_of_shoal", nonblocking_of_shoal, 0},
    {"persistent_of_shoal", persistent_of_shoal, 0},
#endif
};

static int exchange(const struct way* by, MPI_Comm comm) {
  static int out[most_ranks * numbers], in[most_ranks * numbers];
  int rank, ranks;
  MPI_Comm_rank(comm, &rank);
  if (by->is_between_groups) MPI_Comm_remote_size(comm, &ranks);
  else MPI_Comm_size(comm, &ranks);
  for (int i = 0; i < most_ranks * numbers; ++i) out[i] = rank * 1000000 + i;
  memset(in, -1, sizeof in);
  const int code = by->call(ranks, out, in, comm), sent_from = by->is_between_groups ? 0 : rank * numbers;
  for (int from = 0; code == MPI_SUCCESS && from < ranks; ++from)
    for (int i = 0; i < numbers; ++i)
      if (in[from * numbers + i] != from * 1000000 + sent_from + i) return printf("wrong data\n"), MPI_ERR_OTHER;
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

static const struct way* way_of(const char* name) {
  size_t i = 0;
  while (strcmp(ways[i].name, name) != 0) ++i;
  return &ways[i];
}

// The communicator on which the ranks of `all` exchange: that one, or one between the odd and the even ranks.
static MPI_Comm used(const struct way* by, MPI_Comm all) {
  MPI_Comm half, both;
  int rank;
  if (!by->is_between_groups) return all;
  MPI_Comm_rank(all, &rank);
  MPI_Comm_split(all, rank % 2, rank, &half);
  MPI_Intercomm_create(half, 0, all, 1 - rank % 2, 0, &both);
  MPI_Comm_free(&half);
  return both;
}

static void exchange_rightly(const struct way* by, MPI_Comm comm, const char* where) {
  const struct way* const first = by->is_between_groups ? by : way_of("equal");  // it makes requests possible
  require_class(exchange(first, comm), MPI_SUCCESS, MPI_SUCCESS, where);
  for (int i = 0; i < 3; ++i) require_class(exchange(by, comm), MPI_SUCCESS, MPI_SUCCESS, where);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int dies = !strcmp(argv[1], "dead");
  const struct way* const by = way_of(argv[2]);
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm all, left;
  MPI_Comm_dup(MPI_COMM_WORLD, &all);
  MPI_Comm comm = used(by, all);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  exchange_rightly(by, comm, "before");
  MPI_Barrier(MPI_COMM_WORLD);  // without it a rank that is still in the last exchange would get the error there
  if (rank == ranks - 1 && dies) raise(SIGKILL);
  if (rank == ranks - 1) MPIX_Comm_revoke(comm);
  else require_class(exchange(by, comm), MPIX_ERR_REVOKED, dies ? MPIX_ERR_PROC_FAILED : MPIX_ERR_REVOKED, "exchange");
  MPIX_Comm_revoke(comm);
  require_class(exchange(by, comm), MPIX_ERR_REVOKED, MPIX_ERR_REVOKED, "afterwards");
  MPIX_Comm_shrink(all, &left);
  exchange_rightly(by, used(by, left), "on what is left");
  if (kept != MPI_REQUEST_NULL) MPI_Request_free(&kept);
#ifdef LINKED
  shoal_request_free(&kept_of_shoal);
#endif
  if (comm != all) MPI_Comm_free(&comm);
  MPI_Comm_free(&left);
  MPI_Comm_free(&all);
  if (rank == 0) printf("went on\n");
  MPI_Finalize();
  return 0;
}
