// A stencil's exchange: each rank of a periodic grid gives a block to each of its four neighbours, again and again, and
// computes before each step if it is told to. Prints the seconds of all steps together:
//
//   halo alltoall|alltoallv|alltoallw STEPS BYTES [THOUSANDS OF MULTIPLICATIONS]
//
// Every step checks the first and the last byte of every block.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { neighbors = 4 };

static int bytes, ranks_of[neighbors];
static unsigned char *sent, *got;
static int counts[neighbors], places[neighbors];
static MPI_Aint offsets[neighbors];
static MPI_Datatype types[neighbors];

static unsigned char value(int step, int from, int edge, int end) { return step * 7 + from * 31 + edge * 17 + end; }

static void compute(int thousands) {
  volatile double x = 1;
  for (int i = 0; i < thousands * 1000; ++i) x *= 1.0000001;
}

static void fill(int step, int rank) {
  for (int edge = 0; edge < neighbors; ++edge) {
    sent[places[edge]] = value(step, rank, edge, 0);
    sent[places[edge] + bytes - 1] = value(step, rank, edge, bytes - 1);
  }
}

// A neighbour sends over the edge that is opposite to the one on which this rank receives.
static void check(int step) {
  for (int edge = 0; edge < neighbors; ++edge)
    for (int end = 0; end < bytes; end += bytes > 1 ? bytes - 1 : 1)
      if (got[places[edge] + end] != value(step, ranks_of[edge], edge ^ 1, end)) {
        fprintf(stderr, "halo: a block has wrong bytes\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
      }
}

static void exchange(char form, MPI_Comm grid) {
  if (form == 'v') MPI_Neighbor_alltoallv(sent, counts, places, MPI_BYTE, got, counts, places, MPI_BYTE, grid);
  else if (form == 'w') MPI_Neighbor_alltoallw(sent, counts, offsets, types, got, counts, offsets, types, grid);
  else MPI_Neighbor_alltoall(sent, bytes, MPI_BYTE, got, bytes, MPI_BYTE, grid);
}

int main(int count, char **words) {
  int ranks, rank, grid_of[2] = {0, 0}, periodic[2] = {1, 1};
  MPI_Comm grid;
  MPI_Init(&count, &words);
  if (count < 4) return fprintf(stderr, "usage: halo alltoall|alltoallv|alltoallw STEPS BYTES [WORK]\n"), 2;
  const char form = words[1][strlen(words[1]) - 1];
  const int steps = atoi(words[2]), work = count > 4 ? atoi(words[4]) : 0;
  bytes = atoi(words[3]);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Dims_create(ranks, 2, grid_of);
  MPI_Cart_create(MPI_COMM_WORLD, 2, grid_of, periodic, 0, &grid);
  MPI_Comm_rank(grid, &rank);
  for (int way = 0; way < 2; ++way) MPI_Cart_shift(grid, way, 1, &ranks_of[2 * way], &ranks_of[2 * way + 1]);
  for (int edge = 0; edge < neighbors; ++edge)
    counts[edge] = bytes, places[edge] = edge * bytes, offsets[edge] = edge * bytes, types[edge] = MPI_BYTE;
  sent = calloc(neighbors, bytes), got = calloc(neighbors, bytes);

  MPI_Barrier(grid);
  const double began = MPI_Wtime();
  for (int step = 0; step < steps; ++step) {
    compute(work);
    fill(step, rank);
    exchange(form, grid);
    check(step);
  }
  MPI_Barrier(grid);
  if (rank == 0) printf("SECONDS %.9f\n", MPI_Wtime() - began);
  MPI_Finalize();
}
