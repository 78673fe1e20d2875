/* Allgathers with every element checked, between the odd and the even ranks: allgather [calls].
 *
 * Makes 3 calls of MPI_Allgather between the groups (even ranks send, odd ranks send, both send), 2 of MPI_Allgatherv
 * (both send, even ranks send), and within the world one MPI_Allgather with MPI_IN_PLACE and one MPI_Allgatherv; all of
 * that `calls` times (once by default). With "differ" instead, a receiver expects more than is sent, on an
 * inter-communicator that returns errors. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { block = 5 };
static int faults, side, rank, ranks, others;
static MPI_Comm both;

static int value(int group, int sender, int element) { return (group * 1000 + sender) * 100 + element; }
static int elements(int sender) { return (sender * 3 + 1) % 4; }
static void expect(int good) { faults += !good; }

static void equal_messages(int senders) {
  int sent[block], *got = malloc(sizeof(int) * block * others);
  const int sends = senders >> side & 1, receives = senders >> (1 - side) & 1;
  for (int k = 0; k < block; ++k) sent[k] = value(side, rank, k);
  for (int i = 0; i < block * others; ++i) got[i] = -1;
  MPI_Allgather(sent, sends ? block : 0, MPI_INT, got, receives ? block : 0, MPI_INT, both);
  for (int i = 0; i < others; ++i)
    for (int k = 0; k < block; ++k) expect(got[i * block + k] == (receives ? value(1 - side, i, k) : -1));
  free(got);
}

static int uneven_messages(int senders, int too_many) {
  int sent[block], *got = malloc(sizeof(int) * (2 + block) * others);
  int *counts = calloc(2 * others, sizeof(int)), *at = counts + others;
  const int sends = senders >> side & 1, receives = senders >> (1 - side) & 1;
  for (int k = 0; k < block; ++k) sent[k] = value(side, rank, k);
  for (int i = 0; i < (2 + block) * others; ++i) got[i] = -1;
  for (int i = 0; i < others; ++i) {
    counts[i] = receives ? elements(i) + too_many : 0;
    at[i] = i * (2 + block) + 1;
  }
  const int code = MPI_Allgatherv(sent, sends ? elements(rank) : 0, MPI_INT, got, counts, at, MPI_INT, both);
  for (int i = 0; i < others && code == MPI_SUCCESS; ++i)
    for (int k = 0; k < 2 + block; ++k)
      expect(got[i * (2 + block) + k] == (k >= 1 && k <= counts[i] ? value(1 - side, i, k - 1) : -1));
  free(counts);
  free(got);
  return code;
}

static void within_the_world(void) {
  int all[64], counts[64], at[64], me, world;
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &world);
  for (int i = 0; i < world; ++i) {
    counts[i] = 1;
    at[i] = i;
    all[i] = -1;
  }
  all[me] = me;
  MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 1, MPI_INT, MPI_COMM_WORLD);
  for (int i = 0; i < world; ++i) expect(all[i] == i);
  me += 7;
  MPI_Allgatherv(&me, 1, MPI_INT, all, counts, at, MPI_INT, MPI_COMM_WORLD);
  for (int i = 0; i < world; ++i) expect(all[i] == i + 7);
}

int main(int argc, char **argv) {
  const int differ = argc > 1 && !strcmp(argv[1], "differ"), calls = argc > 1 && !differ ? atoi(argv[1]) : 1;
  int me;
  MPI_Comm half;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  side = me % 2;
  MPI_Comm_split(MPI_COMM_WORLD, side, me, &half);
  MPI_Comm_rank(half, &rank);
  MPI_Comm_size(half, &ranks);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - side, 0, &both);
  MPI_Comm_remote_size(both, &others);
  for (int i = 0; i < calls && !differ; ++i) {
    for (int senders = 1; senders <= 3; ++senders) equal_messages(senders);
    uneven_messages(3, 0);
    uneven_messages(1, 0);
    within_the_world();
  }
  if (differ) {
    MPI_Comm_set_errhandler(both, MPI_ERRORS_RETURN);
    expect(uneven_messages(1, side == 1 && rank == 0) != MPI_SUCCESS);
    expect(uneven_messages(1, 0) == MPI_SUCCESS);
  }
  MPI_Comm_free(&both);
  MPI_Comm_free(&half);
  MPI_Allreduce(MPI_IN_PLACE, &faults, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (me == 0) printf("faults: %d\n", faults);
  MPI_Finalize();
  return faults > 0;
}
