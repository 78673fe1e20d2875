/* Rank 1 makes a wrong call, which the MPI refuses, then sends the others a message, then makes the right call. The
 * others make their call only when they have that message, so the refused call may wait for nobody. This happens in
 * every call from the first to the last one that the arguments name, so also in calls in which ranks would agree on
 * something.
 *
 * Arguments: the first and the last call. Any third argument gives the program an error handler of its own, after which
 * MPICH's functions return MPI_SUCCESS. Each kind of exchange has a communicator of its own. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { most = 16, kinds = 4, calls_behind = 40 };

static int rank, ranks, faults, handled;

static void handle(MPI_Comm *comm, int *code, ...) { (void)comm, (void)code, ++handled; }

static int exchange(int kind, int call, int is_wrong, MPI_Comm comm) {
  int sent[most], got[most], counts[most], places[most], offsets[most];
  MPI_Datatype types[most];
  for (int i = 0; i < ranks; ++i) {
    sent[i] = call * 1000 + rank * 10 + i, got[i] = -1, counts[i] = is_wrong ? -1 : 1;
    places[i] = i, offsets[i] = i * (int)sizeof(int), types[i] = MPI_INT;
  }
  int code = MPI_SUCCESS;
  if (kind == 0) code = MPI_Alltoall(sent, counts[0], MPI_INT, got, counts[0], MPI_INT, comm);
  if (kind == 1) code = MPI_Alltoallv(sent, counts, places, MPI_INT, got, counts, places, MPI_INT, comm);
  if (kind == 2) code = MPI_Alltoallw(sent, counts, offsets, types, got, counts, offsets, types, comm);
  if (kind == 3) code = MPI_Neighbor_alltoallv(sent, counts, places, MPI_INT, got, counts, places, MPI_INT, comm);
  for (int i = 0; i < ranks && !is_wrong; ++i) faults += code || got[i] != call * 1000 + i * 10 + rank;
  return code;
}

static MPI_Comm complete_graph(void) {
  int all[most];
  for (int i = 0; i < ranks; ++i) all[i] = i;
  MPI_Comm made;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, ranks, all, MPI_UNWEIGHTED, ranks, all, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                 &made);
  return made;
}

static void be_wrong_first(int kind, MPI_Comm comm) {
  const int before = handled;
  if (rank == 1) faults += exchange(kind, 0, 1, comm) == MPI_SUCCESS && handled == before;
  for (int i = 0; i < ranks && rank == 1; ++i)
    if (i != rank) MPI_Send(NULL, 0, MPI_INT, i, 0, MPI_COMM_WORLD);
  if (rank != 1) MPI_Recv(NULL, 0, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char** argv) {
  const int first = argc > 2 ? atoi(argv[1]) : 0, last = argc > 2 ? atoi(argv[2]) : 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Errhandler handler = MPI_ERRORS_RETURN;
  if (argc > 3) MPI_Comm_create_errhandler(handle, &handler);
  for (int kind = 0; kind < kinds; ++kind) {
    MPI_Comm comm = complete_graph();
    MPI_Comm_set_errhandler(comm, handler);
    for (int call = 1; call <= last + calls_behind; ++call) {
      if (call >= first && call <= last) be_wrong_first(kind, comm);
      exchange(kind, call, 0, comm);
    }
    MPI_Comm_free(&comm);
  }
  MPI_Allreduce(MPI_IN_PLACE, &faults, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("faults: %d\n", faults);
  MPI_Finalize();
  return faults > 0;
}
