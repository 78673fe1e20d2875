// ahead CALLS: rank 0 is so many exchanges ahead of the others, which MPICH allows where nothing is sent; then all exchange.
#include <mpi.h>
#include <stdlib.h>

enum { most_ranks = 8, together = 1000 };

static int counts[most_ranks], places[most_ranks];

static void exchange(int rank, int ranks) {
  int out[most_ranks], in[most_ranks];
  for (int i = 0; i < ranks; ++i) out[i] = rank, in[i] = -1;
  MPI_Alltoallv(out, counts, places, MPI_INT, in, counts, places, MPI_INT, MPI_COMM_WORLD);
  for (int i = 0; i < ranks; ++i)
    if (in[i] != (counts[i] ? i : -1)) MPI_Abort(MPI_COMM_WORLD, 1);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks, calls = atoi(argv[1]);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int i = 0; i < ranks; ++i) places[i] = i;
  if (rank > 0) MPI_Recv(NULL, 0, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int call = 0; call < calls; ++call) exchange(rank, ranks);
  for (int i = 1; rank == 0 && i < ranks; ++i) MPI_Send(NULL, 0, MPI_INT, i, 0, MPI_COMM_WORLD);
  for (int i = 0; i < ranks; ++i) counts[i] = 1;
  for (int call = 0; call < together; ++call) exchange(rank, ranks);
  MPI_Finalize();
  return 0;
}
