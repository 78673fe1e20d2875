/* Exchanges of which rank 0 sees nothing, or only its own: without_first MODE.
 *
 * MODE: blocking (all ranks but rank 0 call MPI_Alltoall 5 times), nonblocking (they call MPI_Ialltoall),
 * groups (these ranks call MPI_Alltoall between two groups), world (as blocking, and once on the world),
 * grid (all ranks, in 3 rows: in each row and each column). */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static void exchange(MPI_Comm comm, int is_nonblocking) {
  int sent[64] = {0}, got[64];
  for (int i = 0; i < 5; ++i) {
    MPI_Request request = MPI_REQUEST_NULL;
    if (is_nonblocking) MPI_Ialltoall(sent, 1, MPI_INT, got, 1, MPI_INT, comm, &request);
    else MPI_Alltoall(sent, 1, MPI_INT, got, 1, MPI_INT, comm);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
}

static void exchange_among(int part, int rank, int is_nonblocking) {
  MPI_Comm some;
  MPI_Comm_split(MPI_COMM_WORLD, part, rank, &some);
  if (some == MPI_COMM_NULL) return;
  exchange(some, is_nonblocking);
  MPI_Comm_free(&some);
}

/* Ranks 1, 3, ... are one group, and 2, 4, ... the other. */
static void exchange_between_groups(int rank) {
  MPI_Comm group, both;
  MPI_Comm_split(MPI_COMM_WORLD, rank ? rank % 2 : MPI_UNDEFINED, rank, &group);
  if (rank == 0) return;
  MPI_Intercomm_create(group, 0, MPI_COMM_WORLD, 1 + rank % 2, 0, &both);
  exchange(both, 0);
  MPI_Comm_free(&both);
  MPI_Comm_free(&group);
}

int main(int argc, char **argv) {
  const char *mode = argv[1];
  int rank, ranks, one[64] = {0}, all[64];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (!strcmp(mode, "world")) MPI_Alltoall(one, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
  if (!strcmp(mode, "groups")) {
    exchange_between_groups(rank);
  } else if (!strcmp(mode, "grid")) {
    exchange_among(rank / (ranks / 3), rank, 0);
    exchange_among(rank % (ranks / 3), rank, 0);
  } else {
    exchange_among(rank ? 0 : MPI_UNDEFINED, rank, !strcmp(mode, "nonblocking"));
  }
  MPI_Finalize();
  return 0;
}
