/* Every rank rounds floating-point numbers in a way of its own, as programs that compute with bounds do, and calls
 * MPI_Alltoall and MPI_Alltoallv with sizes that change. Prints the number of faults, which counts ranks whose rounding
 * was changed.
 *
 * Arguments: the number of calls, then block sizes in bytes. */
#include <fenv.h>
#include <mpi.h>
#ifdef __SSE2__
#include <xmmintrin.h>
#endif
#include <stdio.h>
#include <stdlib.h>

enum { most_ranks = 8 };

static int ranks, rank, faults;

static unsigned char content(int call, int from, int to, int i) { return (unsigned char)(call + 31 * from + 7 * to + i); }

static void exchange(int call, int bytes, unsigned char *sent, unsigned char *got) {
  int counts[most_ranks], starts[most_ranks];
  for (int peer = 0; peer < ranks; ++peer) {
    counts[peer] = bytes;
    starts[peer] = peer * bytes;
    for (int i = 0; i < bytes; ++i) sent[starts[peer] + i] = content(call, rank, peer, i);
  }
  if (call % 2) MPI_Alltoall(sent, bytes, MPI_BYTE, got, bytes, MPI_BYTE, MPI_COMM_WORLD);
  else MPI_Alltoallv(sent, counts, starts, MPI_BYTE, got, counts, starts, MPI_BYTE, MPI_COMM_WORLD);
  for (int peer = 0; peer < ranks; ++peer)
    for (int i = 0; i < bytes; ++i) faults += got[starts[peer] + i] != content(call, peer, rank, i);
}

/* By the standard function, or as some libraries do, for the numbers of SSE alone. */
static void set_rounding(int mode) {
#if defined __SSE2__ && defined OF_SSE
  static const unsigned modes[] = {_MM_ROUND_UP, _MM_ROUND_DOWN, _MM_ROUND_TOWARD_ZERO, _MM_ROUND_NEAREST};
  _MM_SET_ROUNDING_MODE(modes[mode]);
#else
  static const int modes[] = {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO, FE_TONEAREST};
  fesetround(modes[mode]);
#endif
}

/* What a third comes to tells the rounding. */
static double third(void) {
  volatile double one = 1, three = -3;
  return one / three;
}

int main(int argc, char **argv) {
  int all = 0, largest = 1;
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 2; i < argc; ++i) largest = atoi(argv[i]) > largest ? atoi(argv[i]) : largest;
  unsigned char *sent = malloc((size_t)ranks * largest), *got = malloc((size_t)ranks * largest);
  set_rounding(rank % 4);
  const double before = third();
  for (int call = 0; call < atoi(argv[1]); ++call) exchange(call, atoi(argv[2 + call / 2 % (argc - 2)]), sent, got);
  faults += third() != before;
  MPI_Reduce(&faults, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("faults: %d\n", all);
  free(sent), free(got);
  MPI_Finalize();
  return all != 0;
}
