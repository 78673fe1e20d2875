/* Makes six exchanges of each form, and of blocks of several sizes. In the second one the last rank expects another size
 * than rank 0 sends, and gets an error. A rank without an error has the right blocks, and all other exchanges are right.
 * Then the same for allgathers between the even and the odd ranks. With any argument MPI_Alltoall is left out: Open MPI
 * refuses its call with two sizes, and then that rank takes no part. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { most = 8, longest = 60000, gap = 3, calls = 6, the_wrong_one = 1 };
enum form { equal, blocking, nonblocking, persistent, forms };

static int rank, ranks, faults;
static int sent[most * (longest + gap)], got[most * (longest + gap)];
static int sent_counts[most], got_counts[most], places[most];

static int content(int call, int from, int to, int k) { return call * 1000000 + (from * most + to) * 10000 + k % 9973; }

static void fill(int call, int block) {
  for (int i = 0; i < ranks; ++i) {
    sent_counts[i] = got_counts[i] = block, places[i] = i * (block + gap);
    for (int k = 0; k < block + gap; ++k) sent[places[i] + k] = content(call, rank, i, k), got[places[i] + k] = -1;
  }
}

static int wrong_elements(int call, int block) {
  int wrong = 0;
  for (int i = 0; i < ranks; ++i)
    for (int k = 0; k < block; ++k) wrong += got[places[i] + k] != content(call, i, rank, k);
  return wrong;
}

/* Calls of MPI_Alltoall also exchange the gaps between the blocks. */
static int exchange(enum form form, int block, MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  int code = MPI_SUCCESS;
  if (form == equal)
    return MPI_Alltoall(sent, block + gap, MPI_INT, got, got_counts[0] + gap, MPI_INT, comm);
  if (form == blocking)
    return MPI_Alltoallv(sent, sent_counts, places, MPI_INT, got, got_counts, places, MPI_INT, comm);
  if (form == nonblocking) {
    code = MPI_Ialltoallv(sent, sent_counts, places, MPI_INT, got, got_counts, places, MPI_INT, comm, &request);
    return code ? code : MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  code = MPI_Alltoallv_init(sent, sent_counts, places, MPI_INT, got, got_counts, places, MPI_INT, comm, MPI_INFO_NULL,
                            &request);
  if (code == MPI_SUCCESS) code = MPI_Start(&request);
  if (code == MPI_SUCCESS) code = MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
  return code;
}

static void judge(int call, int is_mistaken, int code, int wrong) {
  const int is_fault = call != the_wrong_one ? code || wrong : is_mistaken ? !code : !code && wrong;
  faults += is_fault;
  if (is_fault) printf("rank %d, call %d: code %d, %d wrong elements\n", rank, call, code, wrong);
}

static void exchange_six_times(enum form form, int block, int expected) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  for (int call = 0; call < calls; ++call) {
    const int is_mistaken = call == the_wrong_one && rank == ranks - 1;
    fill(call, block);
    if (is_mistaken) got_counts[0] = expected;
    /* What serves a nonblocking exchange is made in a blocking one. */
    const int code = exchange(call == 0 && form == nonblocking ? blocking : form, block, comm);
    judge(call, is_mistaken, code, wrong_elements(call, block));
  }
  MPI_Comm_free(&comm);
}

static MPI_Comm two_groups(void) {
  MPI_Comm own, both;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &own);
  MPI_Intercomm_create(own, 0, MPI_COMM_WORLD, 1 - rank % 2, 0, &both);
  MPI_Comm_free(&own);
  MPI_Comm_set_errhandler(both, MPI_ERRORS_RETURN);
  return both;
}

static void gather_six_times(int is_equal, int block) {
  MPI_Comm comm = two_groups();
  int others;
  MPI_Comm_remote_size(comm, &others);
  for (int call = 0; call < calls; ++call) {
    const int is_mistaken = call == the_wrong_one && rank == ranks - 1;
    int wrong = 0;
    fill(call, block);
    for (int k = 0; k < block; ++k) sent[k] = content(call, rank, 0, k);
    if (is_mistaken) got_counts[0] -= gap;
    const int code = is_equal ? MPI_Allgather(sent, block, MPI_INT, got, got_counts[0], MPI_INT, comm)
                              : MPI_Allgatherv(sent, block, MPI_INT, got, got_counts, places, MPI_INT, comm);
    for (int i = 0, from = 1 - rank % 2; i < others; ++i, from += 2)
      for (int k = 0; k < block; ++k)
        wrong += got[(is_equal ? i * block : places[i]) + k] != content(call, from, 0, k);
    judge(call, is_mistaken, code, wrong);
  }
  MPI_Comm_free(&comm);
}

int main(int argc, char **argv) {
  const int blocks[] = {10, 5000, longest};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int size = 0; size < 3; ++size) {
    for (enum form form = argc > 1 ? blocking : equal; form < forms; ++form)
      for (int more = -gap; more <= gap; more += 2 * gap) exchange_six_times(form, blocks[size], blocks[size] + more);
    for (int is_equal = 0; is_equal < 2; ++is_equal) gather_six_times(is_equal, blocks[size]);
  }
  MPI_Allreduce(MPI_IN_PLACE, &faults, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("faults: %d\n", faults);
  MPI_Finalize();
  return faults > 0;
}
