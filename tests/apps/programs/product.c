/* Multiplies a sparse matrix by a vector, again and again. Each rank has a block of the rows, and needs the elements
 * of the vector that its columns name, from whichever ranks have them. These needs make a graph, in which the
 * elements come by exchanges among neighbours: blocking, nonblocking and persistent by turns. Every rank compares
 * its result with the product that it makes alone. Numbers are integers that wrap around, so every bit counts.
 * Prints the number of faults. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { rows = 600, entries = 7, steps = 30, most = 64 };

static int rank, ranks, faults;
static uint32_t vector[rows], alone[rows]; /* of `vector`, a rank has its own elements, and those that came */

static uint32_t mixed(uint32_t a, uint32_t b) {
  const uint32_t x = (a * 2654435761u ^ b * 40503u) * 2246822519u;
  return x ^ x >> 15;
}

/* The column of an entry: in a band or, except in the last quarter of the rows, anywhere. */
static int column(int row, int entry) {
  if (entry < 5 || row >= 3 * rows / 4) return (row + entry - 2 + rows) % rows;
  return (int)(mixed((uint32_t)row, (uint32_t)entry) % rows);
}

static uint32_t product(const uint32_t *of, int row) {
  uint32_t sum = 1;
  for (int entry = 0; entry < entries; ++entry) sum += mixed((uint32_t)entry, (uint32_t)row) * of[column(row, entry)];
  return sum;
}

static int first_row(int of_rank) { return (int)((long)rows * of_rank / ranks); }
static int owner(int row) {
  int of_rank = 0;
  while (first_row(of_rank + 1) <= row) ++of_rank;
  return of_rank;
}

/* The elements that go along the edges of one direction: edge by edge, in the order of rows. */
struct elements {
  int edges, peers[most], counts[most], places[most], rows[rows], all;
  uint32_t data[rows];
};

/* Adds an edge with the elements of `from` that `to` needs, if there are any. */
static void add_edge(struct elements *e, int from, int to, int peer) {
  static char needed[rows];
  memset(needed, 0, sizeof needed);
  for (int row = first_row(to); row < first_row(to + 1); ++row)
    for (int entry = 0; entry < entries; ++entry) needed[column(row, entry)] = 1;
  const int place = e->all;
  for (int row = first_row(from); row < first_row(from + 1); ++row)
    if (needed[row]) e->rows[e->all++] = row;
  if (e->all == place) return;
  e->peers[e->edges] = peer, e->places[e->edges] = place, e->counts[e->edges++] = e->all - place;
}

static void multiply(uint32_t *own) {
  for (int row = first_row(rank); row < first_row(rank + 1); ++row) own[row] = product(vector, row);
  memcpy(vector + first_row(rank), own + first_row(rank), sizeof *own * (size_t)(first_row(rank + 1) - first_row(rank)));
}

/* Makes the same step without other ranks. */
static void multiply_alone(void) {
  static uint32_t next[rows];
  for (int row = 0; row < rows; ++row) next[row] = product(alone, row);
  memcpy(alone, next, sizeof next);
}

static void exchange(int form, struct elements *out, struct elements *in, MPI_Comm graph, MPI_Request *kept) {
  MPI_Request begun;
  for (int i = 0; i < out->all; ++i) out->data[i] = vector[out->rows[i]];
  if (form == 0)
    MPI_Neighbor_alltoallv(out->data, out->counts, out->places, MPI_UINT32_T, in->data, in->counts, in->places, MPI_UINT32_T, graph);
  if (form == 1) {
    MPI_Ineighbor_alltoallv(out->data, out->counts, out->places, MPI_UINT32_T, in->data, in->counts, in->places, MPI_UINT32_T,
                            graph, &begun);
    MPI_Wait(&begun, MPI_STATUS_IGNORE);
  }
  if (form == 2) {
    MPI_Start(kept);
    MPI_Wait(kept, MPI_STATUS_IGNORE);
  }
  for (int i = 0; i < in->all; ++i) vector[in->rows[i]] = in->data[i];
}

int main(int count, char **words) {
  static struct elements out, in;
  static uint32_t own[rows];
  MPI_Comm graph;
  MPI_Request kept;
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int peer = 0; peer < ranks; ++peer) {
    if (peer == rank) continue;
    add_edge(&out, rank, peer, peer);
    add_edge(&in, peer, rank, peer);
  }
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, in.edges, in.peers, MPI_UNWEIGHTED, out.edges, out.peers, MPI_UNWEIGHTED,
                                 MPI_INFO_NULL, 0, &graph);
  MPI_Neighbor_alltoallv_init(out.data, out.counts, out.places, MPI_UINT32_T, in.data, in.counts, in.places, MPI_UINT32_T, graph,
                              MPI_INFO_NULL, &kept);
  for (int row = 0; row < rows; ++row) vector[row] = alone[row] = mixed(7, (uint32_t)row);
  for (int step = 0; step < steps; ++step) {
    exchange(step % 3, &out, &in, graph, &kept);
    multiply(own);
    multiply_alone();
    faults += memcmp(own + first_row(rank), alone + first_row(rank), sizeof *own * (size_t)(first_row(rank + 1) - first_row(rank))) != 0;
  }
  MPI_Request_free(&kept);
  MPI_Comm_free(&graph);
  MPI_Allreduce(MPI_IN_PLACE, &faults, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("faults: %d\n", faults);
  MPI_Finalize();
  return faults != 0;
}
