/* Makes thousands of allgathers between two groups, as programs do: the same call many times, then another. Now and then
 * one rank is refused, and calls again. Checks all data. Arguments: the number of calls, a seed, and anything: then an
 * error handler takes part in a call that the other ranks make meanwhile. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { most_ranks = 8, most_ints = 1 << 13 };

static int rank, ranks, others, first_of_others, faults, is_handled;
static int mine[most_ints], got[most_ranks * most_ints], counts[most_ranks], places[most_ranks];
static MPI_Comm both;

/* The first rank of the second group is the world's rank `first`. */
static void prepare(int first) {
  MPI_Comm own;
  const int is_second = rank >= first;
  MPI_Comm_split(MPI_COMM_WORLD, is_second, rank, &own);
  MPI_Intercomm_create(own, 0, MPI_COMM_WORLD, is_second ? 0 : first, 0, &both);
  MPI_Comm_set_errhandler(both, MPI_ERRORS_RETURN);
  MPI_Comm_free(&own);
  others = is_second ? first : ranks - first;
  first_of_others = is_second ? 0 : first;
}

static int value(int call, int from, int at) { return call * 31 + from * 7 + at; }

static int make(int has_sizes, int ints) {
  if (!has_sizes) return MPI_Allgather(mine, ints, MPI_INT, got, ints < 0 ? 1 : ints, MPI_INT, both);
  return MPI_Allgatherv(mine, ints, MPI_INT, got, counts, places, MPI_INT, both);
}

static void make_another(void) {
  int other[3] = {rank, rank, rank}, all[3 * most_ranks];
  faults += MPI_Allgather(other, 3, MPI_INT, all, 3, MPI_INT, both) != MPI_SUCCESS;
  for (int i = 0; i < 3 * others; ++i) faults += all[i] != first_of_others + i / 3;
}

static void handle(MPI_Comm* comm, int* code, ...) { make_another(); }

static void handle_errors(void) {
  MPI_Errhandler handler;
  MPI_Comm_create_errhandler(handle, &handler);
  MPI_Comm_set_errhandler(both, handler);
  is_handled = 1;
}

static void gather(int call, int has_sizes, int ints, int refused) {
  for (int i = 0; i < ints; ++i) mine[i] = value(call, rank, i);
  for (int i = 0; i < others; ++i) counts[i] = ints, places[i] = i * ints;
  if (refused == rank) faults += make(has_sizes, -1) == MPI_SUCCESS && !is_handled;
  else if (refused >= 0 && is_handled) make_another();
  faults += make(has_sizes, ints) != MPI_SUCCESS;
  for (int i = 0; i < others; ++i)
    for (int j = 0; j < ints; j += ints / 4 + 1)
      faults += got[places[i] + j] != value(call, first_of_others + i, j);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  prepare(ranks / 3 + 1);
  if (argc > 3) handle_errors();
  srand(argc > 2 ? atoi(argv[2]) : 0);
  for (int call = 0, left = 0, has_sizes = 0, ints = 0; argc > 1 && call < atoi(argv[1]); ++call, --left) {
    if (left == 0) left = 1 << rand() % 12, has_sizes = rand() % 2, ints = 1 << rand() % 14;
    gather(call, has_sizes, ints, rand() % 64 ? -1 : rand() % ranks);
  }
  if (faults) printf("rank %d: %d faults\n", rank, faults);
  MPI_Comm_free(&both);
  MPI_Finalize();
  return faults != 0;
}
