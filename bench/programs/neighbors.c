/* MPI_Neighbor_alltoallv under Shoal's preload, with the algorithm that SHOAL_NEIGHBOR_ALLTOALLV names, against the MPI's own
 * (PMPI_Neighbor_alltoallv) in the same process, in turns.
 *
 * Arguments: partners of a rank, drawn at random; turns; sizes of blocks in bytes. Prints for each size microseconds: the
 * medians of the slowest rank's times, the MPI's own and then the preload's. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { most = 256, longest = 1 << 14 };

typedef int exchange(const void *, const int *, const int *, MPI_Datatype, void *, const int *, const int *, MPI_Datatype,
                     MPI_Comm);

static int sources[most], destinations[most], in, out;

/* Every rank draws the same graph, in which no two ranks have two edges. */
static MPI_Comm random_graph(int rank, int ranks, int partners) {
  char *const drawn = malloc((size_t)ranks);
  srand(7);
  for (int from = 0; from < ranks; ++from) {
    memset(drawn, 0, (size_t)ranks);
    for (int k = 0; k < partners && k < ranks - 1; ++k) {
      int to;
      do to = rand() % ranks;
      while (to == from || drawn[to]);
      drawn[to] = 1;
      if (from == rank) destinations[out++] = to;
      if (to == rank) sources[in++] = from;
    }
  }
  free(drawn);
  MPI_Comm graph;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, in, sources, MPI_UNWEIGHTED, out, destinations, MPI_UNWEIGHTED, MPI_INFO_NULL,
                                 0, &graph);
  return graph;
}

static double slowest(exchange *how, int bytes, MPI_Comm comm) {
  static char sent[most * longest], got[most * longest];
  int counts[most], places[most];
  for (int i = 0; i < most; ++i) counts[i] = bytes, places[i] = i * bytes;
  PMPI_Barrier(comm);
  const double begin = PMPI_Wtime();
  how(sent, counts, places, MPI_BYTE, got, counts, places, MPI_BYTE, comm);
  double took = PMPI_Wtime() - begin, all;
  PMPI_Allreduce(&took, &all, 1, MPI_DOUBLE, MPI_MAX, comm);
  return all;
}

static int ascending(const void *a, const void *b) { return (*(const double *)a > *(const double *)b) * 2 - 1; }

int main(int argc, char **argv) {
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int turns = argc > 2 ? atoi(argv[2]) : 101;
  MPI_Comm graph = random_graph(rank, ranks, argc > 1 ? atoi(argv[1]) : 12);
  double *const times[] = {malloc(sizeof(double) * (size_t)turns), malloc(sizeof(double) * (size_t)turns)};
  exchange *const ways[] = {PMPI_Neighbor_alltoallv, MPI_Neighbor_alltoallv};
  for (int i = 3; i < argc; ++i) {
    for (int turn = -3; turn < turns; ++turn)
      for (int way = 0; way < 2; ++way) {
        const double took = slowest(ways[way], atoi(argv[i]), graph);
        if (turn >= 0) times[way][turn] = took;
      }
    for (int way = 0; way < 2; ++way) qsort(times[way], (size_t)turns, sizeof(double), ascending);
    const double own = times[0][turns / 2] * 1e6, ours = times[1][turns / 2] * 1e6;
    if (rank == 0) printf("%6s B  %9.1f us  %9.1f us  %5.2fx\n", argv[i], own, ours, own / ours);
  }
  MPI_Comm_free(&graph);
  MPI_Finalize();
  return 0;
}
