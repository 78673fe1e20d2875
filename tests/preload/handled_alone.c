/* One rank is refused now and then. Its error handler makes another exchange, in which the others take part. Then the
 * rank repeats the refused call. Checks all data. Arguments: the number of calls, a seed, and who exchanges: all, or
 * neighbors (in a ring). */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { most_ranks = 8, most_ints = 1 << 12 };

struct blocks {
  int sent[most_ranks * most_ints], got[most_ranks * most_ints], counts[most_ranks], places[most_ranks];
};

static int rank, ranks, faults, is_ring;
static int blocks, peers[most_ranks]; /* of a rank */
static struct blocks program, handlers;
static MPI_Comm comm;

static int value(int call, int from, int to) { return call * 64 + from * 8 + to; }

static void prepare(struct blocks* of, int call, int ints) {
  for (int i = 0; i < blocks; ++i) {
    of->counts[i] = ints;
    of->places[i] = i * ints;
    for (int j = 0; j < ints; ++j) of->sent[i * ints + j] = value(call, rank, peers[i]), of->got[i * ints + j] = -1;
  }
}

static void check(const struct blocks* of, int call, int ints) {
  for (int i = 0; i < blocks; ++i)
    for (int j = 0; j < ints; j += ints / 2 + 1) faults += of->got[i * ints + j] != value(call, peers[i], rank);
}

static int make(struct blocks* of, int has_sizes, int ints) {
  if (!has_sizes)
    return (is_ring ? MPI_Neighbor_alltoall : MPI_Alltoall)(of->sent, ints, MPI_INT, of->got, ints, MPI_INT, comm);
  return (is_ring ? MPI_Neighbor_alltoallv : MPI_Alltoallv)(of->sent, of->counts, of->places, MPI_INT, of->got,
                                                            of->counts, of->places, MPI_INT, comm);
}

/* Another kind of call than the one that is refused, and of another size. */
static int now, is_sized;
static void make_another(void) {
  const int ints = 7 * (1 + now % 32);
  prepare(&handlers, -now, ints);
  faults += make(&handlers, !is_sized, ints) != MPI_SUCCESS;
  check(&handlers, -now, ints);
}
static void handle(MPI_Comm* of, int* code, ...) { make_another(); }

static void exchange(int call, int has_sizes, int ints, int refused) {
  now = call;
  is_sized = has_sizes;
  prepare(&program, call, ints);
  if (refused == rank) program.counts[0] = -1, make(&program, has_sizes, -1), program.counts[0] = ints;
  else if (refused >= 0) make_another();
  faults += make(&program, has_sizes, ints) != MPI_SUCCESS;
  check(&program, call, ints);
}

static void make_ring(void) {
  const int periodic = 1;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &periodic, 0, &comm);
  MPI_Cart_shift(comm, 0, 1, &peers[0], &peers[1]);
  blocks = 2;
}

static void take_all(void) {
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  for (blocks = 0; blocks < ranks; ++blocks) peers[blocks] = blocks;
}

int main(int argc, char** argv) {
  MPI_Errhandler handler;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  is_ring = argc > 3 && !strcmp(argv[3], "neighbors");
  if (is_ring) make_ring();
  else take_all();
  MPI_Comm_create_errhandler(handle, &handler);
  MPI_Comm_set_errhandler(comm, handler);
  srand(argc > 2 ? atoi(argv[2]) : 0);
  for (int call = 0, left = 0, has_sizes = 0, ints = 0; argc > 1 && call < atoi(argv[1]); ++call, --left) {
    if (left == 0) left = 1 << rand() % 12, has_sizes = rand() % 2, ints = 1 << rand() % 13;
    exchange(call, has_sizes, ints, rand() % 32 ? -1 : rand() % ranks);
  }
  if (faults) printf("rank %d: %d faults\n", rank, faults);
  MPI_Comm_free(&comm);
  MPI_Finalize();
  return faults != 0;
}
