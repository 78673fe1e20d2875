// Makes exchanges as programs make them, with one peculiarity at a time, and prints the seconds of all calls together:
//
//   exchanges KIND alltoall|alltoallv CALLS BYTES
//
// With the kind "mixed", BYTES is the seed of a random program. Its steps, like those of a simulation, repeat one to
// six exchanges. The seed decides on their communicators, sizes, collectives and work.
//
// The communicators are, in turn, the world, the rows and the columns of the ranks' grid. Every call checks the first
// and the last byte of every block. The first and the last call check every byte.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int calls, base, ranks, rank;

// The number of the communicator that a call uses.
static int world(int call) { return 0; }
static int in_turn(int call) { return call % 3; }
static int five_each(int call) { return call / 5; }
static int sixty_each(int call) { return call / 60; }

// The bytes of a block.
static unsigned mixed(int from, int to) { return (from * 2654435761u ^ to * 2246822519u) * 3266489917u >> 7; }
static int same(int call, int from, int to) { return base; }
static int two_sizes(int call, int from, int to) { return same(call, from, to) * (call % 2 ? 1 : 64); }
static int drifting(int call, int from, int to) { return same(call, from, to) + 63.0 * base * call / calls; }
static int sparse(int call, int from, int to) { return mixed(from, to) % 8 ? 0 : same(call, from, to); }
static int moving(int call, int from, int to) { return mixed(from * 997 + call, to) % (2 * base + 1); }
static int bursts(int call, int from, int to) { return base * (mixed(call, 5) % 20 ? 1 : 64); }
static int chain(int call, int from, int to) { return to == from + 1 ? base : 0; }
static int funnel(int call, int from, int to) { return to == 0 ? base : 0; }
static int uneven(int call, int from, int to) { return mixed(from, to) % (2 * same(call, from, to) + 1); }

// What the exchanges of the kind "mixed" are like.
enum { largest_mixed = 1 << 14 };
static unsigned drawn(int call, int what) { return mixed(base * 8 + call % (1 + mixed(base, 0) % 6), what); }
static int mixed_communicator(int call) { return drawn(call, 1) % 3; }
static int mixed_work(int call) { return drawn(call, 2) % 3 ? 0 : 1 << drawn(call, 3) % 10; }
static int mixed_uniform(int call) { return drawn(call, 4) % 2; }
static int mixed_bytes(int call, int from, int to) {
  const int bytes = 1 << drawn(call, 5) % 15;
  if (mixed_uniform(call) || drawn(call, 6) % 2) return bytes;
  return mixed(from, to) % (drawn(call, 7) % 2 ? 4 : 1) ? 0 : mixed(from, to + 1) % bytes;
}

// The work before a call: thousands of multiplications or, if negative, microseconds that a rank sleeps.
static int no_work(int call) { return 0; }
static int work(int call) { return 100; }
static int late_in_turn(int call) { return call % 32 == rank * 32 / ranks ? -20000 : 0; }
static int late_by_chance(int call) { return mixed(call, 3) % ranks == rank ? -1000 : 0; }
static int skewed(int call) { return call % ranks == rank ? 400 : 50; }

static const struct kind {
  const char *name;
  int (*communicator)(int call);
  int (*bytes)(int call, int from, int to);
  int (*work)(int call);
} kinds[] = {
    {"same", world, same, no_work},          {"two_sizes", world, two_sizes, no_work},
    {"drifting", world, drifting, no_work},  {"sparse", world, sparse, no_work},
    {"uneven", world, uneven, no_work},      {"computing", world, same, work},
    {"skewed", world, same, skewed},         {"pencils", in_turn, same, no_work},
    {"chain", world, chain, late_in_turn},   {"funnel", world, funnel, late_by_chance},
    {"moving", world, moving, no_work},      {"bursts", world, bursts, no_work},
    {"communicators", five_each, same, no_work}, {"copies", sixty_each, same, no_work}, {"mixed", mixed_communicator, mixed_bytes, mixed_work},
};
static const struct kind *kind;

// One side of an exchange.
struct blocks {
  int *counts, *starts;
  unsigned char *bytes;
};

static struct blocks blocks_of(size_t bytes) {
  return (struct blocks){calloc(ranks, sizeof(int)), calloc(ranks, sizeof(int)), calloc(bytes, 1)};
}

static void fail(const char *what) {
  fprintf(stderr, "exchanges: %s\n", what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void compute(int thousands) {
  if (thousands < 0) usleep(-thousands);
  volatile double x = 1;
  for (int i = 0; i < thousands * 1000; ++i) x *= 1.0000001;
}

static unsigned char value(int call, int from, int to, int place) { return call * 7 + from * 31 + to * 17 + place; }

// The distance between the bytes of a block that are checked: all bytes, or the two ends.
static int step(int call, int bytes) { return call == 0 || call == calls - 1 || bytes < 3 ? 1 : bytes - 1; }

static void prepare(struct blocks *out, struct blocks *in, int call, int me, int size) {
  int sent = 0, received = 0;
  for (int peer = 0; peer < size; ++peer) {
    out->counts[peer] = kind->bytes(call, me, peer);
    in->counts[peer] = kind->bytes(call, peer, me);
    out->starts[peer] = sent, in->starts[peer] = received;
    sent += out->counts[peer], received += in->counts[peer];
    for (int i = 0; i < out->counts[peer]; i += step(call, out->counts[peer]))
      out->bytes[out->starts[peer] + i] = value(call, me, peer, i);
  }
}

static void check(const struct blocks *in, int call, int me, int size) {
  for (int peer = 0; peer < size; ++peer)
    for (int i = 0; i < in->counts[peer]; i += step(call, in->counts[peer]))
      if (in->bytes[in->starts[peer] + i] != value(call, peer, me, i)) fail("a block has wrong bytes");
}

static void exchange(struct blocks *out, struct blocks *in, int call, int uniform, MPI_Comm comm) {
  int me, size;
  MPI_Comm_rank(comm, &me);
  MPI_Comm_size(comm, &size);
  prepare(out, in, call, me, size);
  if (uniform)
    MPI_Alltoall(out->bytes, *out->counts, MPI_BYTE, in->bytes, *in->counts, MPI_BYTE, comm);
  else
    MPI_Alltoallv(out->bytes, out->counts, out->starts, MPI_BYTE, in->bytes, in->counts, in->starts, MPI_BYTE, comm);
  check(in, call, me, size);
}

static MPI_Comm communicator(int number) {
  int grid[2] = {0, 0};
  MPI_Dims_create(ranks, 2, grid);
  const int part[] = {0, rank / grid[1], rank % grid[1]};
  MPI_Comm made;
  MPI_Comm_split(MPI_COMM_WORLD, part[number % 3], rank, &made);
  return made;
}

int main(int count, char **words) {
  MPI_Init(&count, &words);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (count != 5) fail("usage: exchanges KIND alltoall|alltoallv CALLS BYTES");
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i)
    if (!strcmp(kinds[i].name, words[1])) kind = &kinds[i];
  if (!kind) fail("there is no such kind");
  const int uniform = !strcmp(words[2], "alltoall");
  calls = atoi(words[3]), base = atoi(words[4]);

  // Pages that no call uses take no memory.
  const size_t most = (size_t)ranks * (kind->bytes == mixed_bytes ? largest_mixed : 64 * base) + 1;
  struct blocks out = blocks_of(most), in = blocks_of(most);
  const int ever_new = kind->communicator == five_each || kind->communicator == sixty_each;
  const int communicators = ever_new && calls > 0 ? 1 + kind->communicator(calls - 1) : 3;
  MPI_Comm *comms = malloc(communicators * sizeof *comms);
  comms[0] = MPI_COMM_WORLD;
  for (int i = 1; i < communicators; ++i) comms[i] = communicator(i);

  MPI_Barrier(MPI_COMM_WORLD);
  const double began = MPI_Wtime();
  for (int call = 0; call < calls; ++call) {
    compute(kind->work(call));
    const int all_alike = kind->bytes == mixed_bytes ? mixed_uniform(call) : uniform;
    exchange(&out, &in, call, all_alike, comms[kind->communicator(call)]);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) printf("SECONDS %.9f\n", MPI_Wtime() - began);
  MPI_Finalize();
}
