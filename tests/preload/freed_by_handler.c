/* freed_by_handler CASE CALLS: an exchange of all ranks has a wrong count, after CALLS right ones. The error handler frees
 * its communicator. CASE: all, neighbors or groups. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { most = 16 };

static MPI_Comm comm;
static int rank, ranks, handled;

static void handler(MPI_Comm *on, int *code, ...) {
  (void)on, (void)code;
  if (handled++ == 0) MPI_Comm_free(&comm);
}

static MPI_Comm ring(void) {
  const int periodic = 1;
  MPI_Comm made;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &periodic, 0, &made);
  return made;
}

static MPI_Comm two_groups(void) {
  MPI_Comm own, made;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &own);
  MPI_Intercomm_create(own, 0, MPI_COMM_WORLD, 1 - rank % 2, 0, &made);
  MPI_Comm_free(&own);
  return made;
}

static MPI_Comm copy(void) {
  MPI_Comm made;
  MPI_Comm_dup(MPI_COMM_WORLD, &made);
  return made;
}

int main(int argc, char **argv) {
  MPI_Errhandler frees;
  int sent[most] = {0}, got[most];
  int (*exchange)(const void *, int, MPI_Datatype, void *, int, MPI_Datatype, MPI_Comm) = MPI_Alltoall;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (!strcmp(argv[1], "neighbors")) comm = ring(), exchange = MPI_Neighbor_alltoall;
  else if (!strcmp(argv[1], "groups")) comm = two_groups(), exchange = MPI_Allgather;
  else comm = copy();
  MPI_Comm_create_errhandler(handler, &frees);
  MPI_Comm_set_errhandler(comm, frees);
  for (int i = 0; i < atoi(argv[2]); ++i) exchange(sent, 1, MPI_INT, got, 1, MPI_INT, comm);
  exchange(sent, -1, MPI_INT, got, -1, MPI_INT, comm);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) printf("handled: %d, freed: %d\n", handled, comm == MPI_COMM_NULL);
  MPI_Errhandler_free(&frees);
  MPI_Finalize();
  return 0;
}
