/* Rank 0 makes a call with wrong arguments, and repeats it with right ones. The others make the call once, and wait for
 * rank 0 in it. All later calls must be right.
 *
 * Arguments: the numbers of calls before the wrong one and behind it. With any third argument, all ranks first make only
 * right calls, on another communicator. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { most = 16 };

static int rank, ranks, faults, calls_before, calls_behind;

static int exchange(int call, int count, MPI_Comm comm) {
  int sent[most], got[most];
  for (int i = 0; i < ranks; ++i) sent[i] = call * 1000 + rank * 10 + i, got[i] = -1;
  const int code = MPI_Alltoall(sent, count, MPI_INT, got, count, MPI_INT, comm);
  for (int i = 0; i < ranks && count > 0; ++i) faults += code || got[i] != call * 1000 + i * 10 + rank;
  return code;
}

static int exchange_unevenly(int call, int own_count, MPI_Comm comm) {
  int sent[most], got[most], counts[most], places[most];
  for (int i = 0; i < ranks; ++i) sent[i] = call * 1000 + rank * 10 + i, got[i] = -1, counts[i] = 1, places[i] = i;
  counts[rank] = own_count;
  const int code = MPI_Alltoallv(sent, counts, places, MPI_INT, got, counts, places, MPI_INT, comm);
  for (int i = 0; i < ranks && own_count > 0; ++i) faults += code || got[i] != call * 1000 + i * 10 + rank;
  return code;
}

/* An allgather between the even and the odd ranks. */
static int gather(int call, int count, MPI_Comm comm) {
  int sent = call * 1000 + rank, got[most];
  for (int i = 0; i < most; ++i) got[i] = -1;
  const int code = MPI_Allgather(&sent, count, MPI_INT, got, count, MPI_INT, comm);
  for (int i = 0, from = 1 - rank % 2; from < ranks && count > 0; ++i, from += 2)
    faults += code || got[i] != call * 1000 + from;
  return code;
}

static MPI_Comm all_ranks(void) {
  MPI_Comm all;
  MPI_Comm_dup(MPI_COMM_WORLD, &all);
  return all;
}

static MPI_Comm two_groups(void) {
  MPI_Comm own, both;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &own);
  MPI_Intercomm_create(own, 0, MPI_COMM_WORLD, 1 - rank % 2, 0, &both);
  MPI_Comm_free(&own);
  return both;
}

static void on_one_communicator(int some_are_wrong, int (*exchange_once)(int, int, MPI_Comm)) {
  MPI_Comm comm = exchange_once == gather ? two_groups() : all_ranks();
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  for (int call = 0; call < calls_before; ++call) exchange_once(call, 1, comm);
  if (rank == 0 && some_are_wrong && exchange_once(0, -1, comm) == MPI_SUCCESS) ++faults;
  for (int call = 0; call < calls_behind; ++call) exchange_once(call, 1, comm);
  MPI_Comm_free(&comm);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  calls_before = atoi(argv[1]), calls_behind = atoi(argv[2]);
  if (argc > 3) on_one_communicator(0, exchange);
  on_one_communicator(1, exchange);
  on_one_communicator(1, exchange_unevenly);
  on_one_communicator(1, gather);
  MPI_Allreduce(MPI_IN_PLACE, &faults, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("faults: %d\n", faults);
  MPI_Finalize();
  return faults > 0;
}
