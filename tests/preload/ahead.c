// ahead CALLS DISCONNECTED...: rank 0 gets CALLS exchanges ahead of the others, which MPICH allows if nothing is sent.
// Then all ranks exchange. Before that, for each number DISCONNECTED, rank 0 gets that many exchanges ahead on another
// communicator, and has disconnected it before the others begin.
#include <mpi.h>
#include <stdlib.h>

enum { most_ranks = 8, together = 1000 };

static int counts[most_ranks], places[most_ranks];

static void exchange(MPI_Comm comm, int rank, int ranks) {
  int out[most_ranks], in[most_ranks];
  for (int i = 0; i < ranks; ++i) out[i] = rank, in[i] = -1;
  MPI_Alltoallv(out, counts, places, MPI_INT, in, counts, places, MPI_INT, comm);
  for (int i = 0; i < ranks; ++i)
    if (in[i] != (counts[i] ? i : -1)) MPI_Abort(MPI_COMM_WORLD, 1);
}

static void exchange_ahead(MPI_Comm comm, int calls, int is_disconnected, int rank, int ranks) {
  if (rank > 0) MPI_Recv(NULL, 0, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int call = 0; call < calls; ++call) exchange(comm, rank, ranks);
  if (is_disconnected) MPI_Comm_disconnect(&comm);
  for (int i = 1; rank == 0 && i < ranks; ++i) MPI_Send(NULL, 0, MPI_INT, i, 0, MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int i = 0; i < ranks; ++i) places[i] = i;
  for (int k = 2; k < argc; ++k) {
    MPI_Comm own;
    MPI_Comm_dup(MPI_COMM_WORLD, &own);
    exchange_ahead(own, atoi(argv[k]), 1, rank, ranks);
  }
  exchange_ahead(MPI_COMM_WORLD, atoi(argv[1]), 0, rank, ranks);
  for (int i = 0; i < ranks; ++i) counts[i] = 1;
  for (int call = 0; call < together; ++call) exchange(MPI_COMM_WORLD, rank, ranks);
  MPI_Finalize();
  return 0;
}
