/* Exchanges among neighbours in grids and graphs. They must receive what the MPI's own (PMPI_) receive, byte for byte,
 * and change nothing else in the buffers. Two ranks may have several edges; a rank may have edges to itself or to
 * nobody, or none at all.
 *
 * Arguments: the number of random graphs; then "requests" to make nonblocking and persistent exchanges too, several
 * under way at once; or "often" and a number of rounds to make on each communicator, with other sizes now and then, and
 * all-to-alls of all ranks in between. With -DLINKED the program calls functions of shoal.h instead of the names that
 * the preload takes. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef LINKED
#include <shoal/shoal.h>
#define MPI_Neighbor_alltoall shoal_neighbor_alltoall
#define MPI_Neighbor_alltoallv shoal_neighbor_alltoallv
#define MPI_Neighbor_alltoallw shoal_neighbor_alltoallw
#endif

/* Open MPI 5 has persistent exchanges, though it does not call itself MPI 4 yet. */
#define HAS_PERSISTENT (MPI_VERSION >= 4 || OMPI_MAJOR_VERSION >= 5)

enum { most = 64, room = 1 << 15, largest = 40 };

typedef intptr_t word;
typedef int words(word, word, word, word, word, word, word, word, word);

static int rank, ranks, faults, calls, with_requests, rounds = 3, alike = 1;
static unsigned state; /* the same on every rank */
static unsigned char pattern[2 * room], sent[room], got[room], expected[room], got_by[3][room];

static unsigned next(unsigned below) {
  state = state * 1664525u + 1013904223u;
  return (state >> 8) % below;
}

/* The arguments of one side of a call: what a rank sends, or what it receives. */
struct side {
  int blocks, peers[most], counts[most], places[most];
  MPI_Count wide_counts[most];
  MPI_Aint offsets[most], wide_places[most];
  MPI_Datatype types[most];
};

/* The size in elements of the blocks from one rank to another, the same on each of their edges. */
static int size_between(int from, int to, int salt) {
  const unsigned mixed = (unsigned)(from * 31 + to * 17 + salt * 7) * 2654435761u;
  return (mixed >> 10) % 3 ? (int)((mixed >> 16) % largest) : 0;
}

static void place(struct side *s, int receives, int salt, MPI_Datatype gapped) {
  int at = 1;
  for (int i = 0; i < s->blocks; ++i) {
    const int peer = s->peers[i], n = peer == MPI_PROC_NULL ? 3 : receives ? size_between(peer, rank, salt) : size_between(rank, peer, salt);
    const int has_gaps = (i + receives) % 2;
    s->counts[i] = n, s->wide_counts[i] = n, s->places[i] = at, s->wide_places[i] = at;
    s->offsets[i] = (MPI_Aint)at * (MPI_Aint)sizeof(int);
    s->types[i] = has_gaps ? gapped : MPI_INT;
    at += 2 * n + (int)(i % 3);
  }
}

static void compare(const char *name, int code) {
  ++calls;
  if (code == MPI_SUCCESS && !memcmp(got, expected, room)) return;
  if (!faults++) printf("rank %d: %s is wrong\n", rank, name);
}

static void clear(void) {
  memset(got, 0xEE, room);
  memset(expected, 0xEE, room);
}

static void exchange_equal(MPI_Comm comm, int salt) {
  clear();
  const int code = MPI_Neighbor_alltoall(sent, 3 + salt % 5, MPI_INT, got, 3 + salt % 5, MPI_INT, comm);
  PMPI_Neighbor_alltoall(sent, 3 + salt % 5, MPI_INT, expected, 3 + salt % 5, MPI_INT, comm);
  compare("MPI_Neighbor_alltoall", code);
}

static void exchange_sizes(MPI_Comm comm, const struct side *out, const struct side *in) {
  clear();
  const int code = MPI_Neighbor_alltoallv(sent, out->counts, out->places, MPI_INT, got, in->counts, in->places, MPI_INT, comm);
  PMPI_Neighbor_alltoallv(sent, out->counts, out->places, MPI_INT, expected, in->counts, in->places, MPI_INT, comm);
  compare("MPI_Neighbor_alltoallv", code);
}

static void exchange_types(MPI_Comm comm, const struct side *out, const struct side *in) {
  clear();
  const int code = MPI_Neighbor_alltoallw(sent, out->counts, out->offsets, out->types, got, in->counts, in->offsets, in->types, comm);
  PMPI_Neighbor_alltoallw(sent, out->counts, out->offsets, out->types, expected, in->counts, in->offsets, in->types, comm);
  compare("MPI_Neighbor_alltoallw", code);
}

/* With 64-bit counts, if there is such a function. */
static void exchange_wide(MPI_Comm comm, const struct side *out, const struct side *in) {
  words *const wide = (words *)dlsym(RTLD_DEFAULT, "MPI_Neighbor_alltoallv_c");
  if (!wide) return;
  clear();
  const int code = wide((word)sent, (word)out->wide_counts, (word)out->wide_places, (word)MPI_INT, (word)got, (word)in->wide_counts,
                        (word)in->wide_places, (word)MPI_INT, (word)comm);
  PMPI_Neighbor_alltoallv(sent, out->counts, out->places, MPI_INT, expected, in->counts, in->places, MPI_INT, comm);
  compare("MPI_Neighbor_alltoallv_c", code);
}

/* Compares what each form has received, in calls that have ended, with the MPI's own nonblocking calls: MPIs may match
 * parallel edges in another order than in blocking calls. */
static void compare_all(const char *name, MPI_Comm comm, int salt, const struct side *out, const struct side *in) {
  for (int form = 0; form < 3; ++form) {
    MPI_Request open;
    clear();
    memcpy(got, got_by[form], room);
    memset(got_by[form], 0xEE, room);
    if (form == 0) PMPI_Ineighbor_alltoall(sent, 3 + salt % 5, MPI_INT, expected, 3 + salt % 5, MPI_INT, comm, &open);
    if (form == 1)
      PMPI_Ineighbor_alltoallv(sent, out->counts, out->places, MPI_INT, expected, in->counts, in->places, MPI_INT, comm, &open);
    if (form == 2)
      PMPI_Ineighbor_alltoallw(sent, out->counts, out->offsets, out->types, expected, in->counts, in->offsets, in->types, comm,
                               &open);
    PMPI_Wait(&open, MPI_STATUS_IGNORE);
    compare(name, MPI_SUCCESS);
  }
}

/* All three forms at once, with copies of the arrays. Each rank waits for them in an order of its own. */
static void exchange_at_once(MPI_Comm comm, int salt, const struct side *out, const struct side *in) {
  struct side given[2] = {*out, *in};
  MPI_Request open[3];
  MPI_Ineighbor_alltoall(sent, 3 + salt % 5, MPI_INT, got_by[0], 3 + salt % 5, MPI_INT, comm, &open[0]);
  MPI_Ineighbor_alltoallv(sent, given[0].counts, given[0].places, MPI_INT, got_by[1], given[1].counts, given[1].places, MPI_INT,
                          comm, &open[1]);
  MPI_Ineighbor_alltoallw(sent, given[0].counts, given[0].offsets, given[0].types, got_by[2], given[1].counts,
                          given[1].offsets, given[1].types, comm, &open[2]);
  for (int i = 0; i < 3; ++i) MPI_Wait(&open[(i + rank) % 3], MPI_STATUS_IGNORE);
  compare_all("a nonblocking one", comm, salt, out, in);
}

static void exchange_again_and_again(MPI_Comm comm, int salt, const struct side *out, const struct side *in) {
#if HAS_PERSISTENT
  MPI_Request all[3];
  const MPI_Info none = MPI_INFO_NULL;
  MPI_Neighbor_alltoall_init(sent, 3 + salt % 5, MPI_INT, got_by[0], 3 + salt % 5, MPI_INT, comm, none, &all[0]);
  MPI_Neighbor_alltoallv_init(sent, out->counts, out->places, MPI_INT, got_by[1], in->counts, in->places, MPI_INT, comm, none,
                              &all[1]);
  MPI_Neighbor_alltoallw_init(sent, out->counts, out->offsets, out->types, got_by[2], in->counts, in->offsets, in->types,
                              comm, none, &all[2]);
  for (int time = 0; time < 3; ++time) {
    for (int i = 0; i < room; ++i) ++sent[i];
    MPI_Startall(3, all);
    MPI_Waitall(3, all, MPI_STATUSES_IGNORE);
    compare_all("a persistent one", comm, salt, out, in);
  }
  for (int i = 0; i < 3; ++i) MPI_Request_free(&all[i]);
#endif
  (void)comm, (void)salt, (void)out, (void)in;
}

static void among_all_ranks(MPI_Comm comm) {
  clear();
  const int code = MPI_Alltoall(sent, 16, MPI_INT, got, 16, MPI_INT, comm);
  PMPI_Alltoall(sent, 16, MPI_INT, expected, 16, MPI_INT, comm);
  compare("MPI_Alltoall", code);
}

static void exchange_all(MPI_Comm comm, struct side *out, struct side *in) {
  MPI_Datatype gapped;
  MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &gapped);
  MPI_Type_commit(&gapped);
  for (int round = 0; round < rounds; ++round) {
    const int salt = round / alike;
    memcpy(sent, pattern + round, room);
    place(out, 0, salt, gapped);
    place(in, 1, salt, gapped);
    exchange_equal(comm, salt);
    exchange_sizes(comm, out, in);
    exchange_types(comm, out, in);
    exchange_wide(comm, out, in);
    if (alike > 1) among_all_ranks(comm);
    if (!with_requests) continue;
    exchange_at_once(comm, salt, out, in);
    exchange_again_and_again(comm, salt, out, in);
  }
  MPI_Type_free(&gapped);
  MPI_Comm_free(&comm);
}

static void in_grid(int dimensions, const int *extents, int periodic) {
  int periods[3] = {periodic, periodic, periodic};
  MPI_Comm grid;
  MPI_Cart_create(MPI_COMM_WORLD, dimensions, extents, periods, 0, &grid);
  struct side out = {2 * dimensions}, in = {2 * dimensions};
  for (int d = 0; d < dimensions; ++d) MPI_Cart_shift(grid, d, 1, &in.peers[2 * d], &in.peers[2 * d + 1]);
  memcpy(out.peers, in.peers, sizeof in.peers);
  exchange_all(grid, &out, &in);
}

/* All ranks draw the same edges, which begin at the first `few` ranks only. Each rank keeps those that concern it. */
static void in_random_graph(void) {
  const int edges = (int)next(most);
  struct side out = {0}, in = {0};
  const unsigned few = 1 + next((unsigned)ranks);
  for (int i = 0; i < edges; ++i) {
    const int from = (int)next(few), to = (int)next((unsigned)ranks);
    if (from == rank) out.peers[out.blocks++] = to;
    if (to == rank) in.peers[in.blocks++] = from;
  }
  MPI_Comm graph;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, in.blocks, in.peers, MPI_UNWEIGHTED, out.blocks, out.peers, MPI_UNWEIGHTED,
                                 MPI_INFO_NULL, 0, &graph);
  exchange_all(graph, &out, &in);
}

static void in_ring(void) {
  int index[most], edges[2 * most];
  for (int i = 0; i < ranks; ++i) {
    edges[2 * i] = (i + 1) % ranks, edges[2 * i + 1] = (i + ranks - 1) % ranks;
    index[i] = 2 * i + 2;
  }
  MPI_Comm ring;
  MPI_Graph_create(MPI_COMM_WORLD, ranks, index, edges, 0, &ring);
  struct side out = {2, {edges[2 * rank], edges[2 * rank + 1]}}, in = out;
  exchange_all(ring, &out, &in);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  with_requests = argc > 2 && !strcmp(argv[2], "requests");
  if (argc > 3 && !strcmp(argv[2], "often")) rounds = atoi(argv[3]), alike = rounds / 5;
  memset(got_by, 0xEE, sizeof got_by);
  for (int i = 0; i < 2 * room; ++i) pattern[i] = (unsigned char)(rank * 37 + i * 5 + i / 256);
  const int halves[] = {ranks / 2, ranks > 1 ? 2 : 1, 1}, line[] = {ranks};
  for (int periodic = 0; periodic < 2; ++periodic) {
    in_grid(1, line, periodic);
    if (ranks % 2 == 0) in_grid(3, halves, periodic);
  }
  in_ring();
  for (int i = 0, n = argc > 1 ? atoi(argv[1]) : 10; i < n; ++i) in_random_graph();
  MPI_Allreduce(MPI_IN_PLACE, &faults, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("calls: %d\nfaults: %d\n", calls, faults);
  MPI_Finalize();
  return faults > 0;
}
