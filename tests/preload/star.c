/* Exchanges between a hub and all other ranks, so the hub sends many times what another rank sends. Makes CALLS calls
 * of MPI_Neighbor_alltoallv with few bytes, then 300 of MPI_Neighbor_alltoall with many:
 *
 *   star CALLS */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { most = 16, small = 16, large = 1024 };

static int rank, ranks, faults, counts[most], places[most], peers[most], ones[most];
static char sent[most][large], got[most][large];

static void check(int edges, int bytes, int stride) {
  for (int i = 0; i < edges; ++i)
    for (int k = 0; k < bytes; ++k) faults += got[0][i * stride + k] != (char)(peers[i] + 1);
  memset(got, 0, sizeof got);
}

int main(int argc, char **argv) {
  MPI_Comm star;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int calls = atoi(argv[1]), edges = rank == 0 ? ranks - 1 : 1;
  for (int i = 0; i < edges; ++i) peers[i] = rank == 0 ? i + 1 : 0, ones[i] = 1, counts[i] = small, places[i] = i * small;
  memset(sent, rank + 1, sizeof sent);
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, edges, peers, ones, edges, peers, ones, MPI_INFO_NULL, 0, &star);
  for (int call = 0; call < calls; ++call) {
    MPI_Neighbor_alltoallv(sent, counts, places, MPI_CHAR, got, counts, places, MPI_CHAR, star);
    check(edges, small, small);
  }
  for (int call = 0; call < 300; ++call) {
    MPI_Neighbor_alltoall(sent, large, MPI_CHAR, got, large, MPI_CHAR, star);
    check(edges, large, large);
  }
  MPI_Comm_free(&star);
  MPI_Allreduce(MPI_IN_PLACE, &faults, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("faults: %d\n", faults);
  MPI_Finalize();
  return faults > 0;
}
