/* Measures how much of an MPI_Ialltoallv hides behind computing that takes as long as the exchange alone:
 *
 *     mpicc -O2 -o overlap bench/programs/overlap.c
 *     mpiexec -n 2 env LD_PRELOAD=build/mpich/libshoal-preload.so SHOAL_ALLTOALLV=spread_out ./overlap 65536 200 8
 *
 * The arguments are the bytes of a block, the repetitions, and how often a rank calls MPI_Test while it computes, so
 * that the exchange can move. Prints medians of the slowest rank's times, and the share that was hidden:
 * (alone + computing - both) / alone. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { most_ranks = 1024 };

static int bytes, repetitions, tests, ranks;
static int counts[most_ranks], places[most_ranks];
static char *out, *in;

static double compute(long steps) {
  volatile double sum = 1;
  for (long i = 0; i < steps; ++i) sum = sum * 1.0000001 + 1e-9;
  return sum;
}

/* The seconds of an exchange with so many steps of computing between its start and its end, on the slowest rank. */
static double timed(int exchanges, long steps) {
  MPI_Request open = MPI_REQUEST_NULL;
  int flag;
  MPI_Barrier(MPI_COMM_WORLD);
  double took = -MPI_Wtime();
  if (exchanges)
    MPI_Ialltoallv(out, counts, places, MPI_CHAR, in, counts, places, MPI_CHAR, MPI_COMM_WORLD, &open);
  for (int i = 0; steps > 0 && i <= tests; ++i) {
    compute(steps / (tests + 1));
    if (exchanges && i < tests) MPI_Test(&open, &flag, MPI_STATUS_IGNORE);
  }
  MPI_Wait(&open, MPI_STATUS_IGNORE);
  took += MPI_Wtime();
  MPI_Allreduce(MPI_IN_PLACE, &took, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return took;
}

static int by_time(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median(int exchanges, long steps) {
  double *const all = malloc(repetitions * sizeof *all);
  for (int i = 0; i < repetitions; ++i) all[i] = timed(exchanges, steps);
  qsort(all, repetitions, sizeof *all, by_time);
  const double middle = all[repetitions / 2];
  free(all);
  return middle;
}

int main(int argc, char **argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  bytes = argc > 1 ? atoi(argv[1]) : 65536;
  repetitions = argc > 2 ? atoi(argv[2]) : 200;
  tests = argc > 3 ? atoi(argv[3]) : 8;
  out = calloc(ranks, bytes), in = calloc(ranks, bytes);
  for (int i = 0; i < ranks; ++i) counts[i] = bytes, places[i] = i * bytes;
  median(1, 0);
  const double alone = median(1, 0), step = median(0, 100000) / 1e5;
  const long steps = (long)(alone / step);
  const double computing = median(0, steps), both = median(1, steps);
  if (rank == 0)
    printf("%d ranks, %d bytes a block: exchange %.1f us, computing %.1f us, both %.1f us, hidden %.0f %%\n", ranks, bytes,
           alone * 1e6, computing * 1e6, both * 1e6, 100 * (alone + computing - both) / alone);
  MPI_Finalize();
  return 0;
}
