/* Calls whose algorithm is `native`, by name, pass once the ranks know that. How many of them pass may differ between
 * ranks: here rank 0 asks between two calls what ran, so none of its calls passes. Still the ranks agree about all other
 * calls, and about what shoal_comm_set_info() says next. The program has one thread, because only then most calls
 * pass. */
#include <mpi.h>
#include <shoal/shoal.h>
#include <stdio.h>
#include <string.h>

enum { most = 8 };

static int sent[most], got[most], ones[most], places[most], faults, ranks, rank;

static void exchange(int calls) {
  char text[512];
  for (int call = 0; call < calls; ++call) {
    if (rank == 0) shoal_comm_explain(MPI_COMM_WORLD, text, sizeof text);
    for (int i = 0; i < ranks; ++i) sent[i] = rank * most + i + call;
    shoal_alltoall(sent, 1, MPI_INT, got, 1, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < ranks; ++i) faults += got[i] != i * most + rank + call;
  }
}

static void exchange_sizes(int calls) {
  while (calls-- > 0)
    shoal_alltoallv(sent, ones, places, MPI_INT, got, ones, places, MPI_INT, MPI_COMM_WORLD);
}

static void ask_for(const char *algorithm) {
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "shoal_alltoall", algorithm);
  shoal_comm_set_info(MPI_COMM_WORLD, info);
  MPI_Info_free(&info);
}

static void expect(const char *said) {
  char text[512] = "";
  shoal_comm_explain(MPI_COMM_WORLD, text, sizeof text);
  if (strstr(text, said)) return;
  ++faults;
  fprintf(stderr, "rank %d: %s, not: %s\n", rank, text, said);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < ranks; ++i) ones[i] = 1, places[i] = i;
  ask_for("native");
  for (int round = 0; round < 40; ++round) {
    exchange(1 + round % 7);
    exchange_sizes(20);
  }
  expect("after ");
  exchange(9);
  expect("native: asked for");
  ask_for("tuna:radix=2");
  exchange(9);
  expect("tuna:radix=2: asked for");
  ask_for("auto");
  exchange(900);
  expect("after ");
  MPI_Finalize();
  return faults > 0;
}
