/* All ranks begin a nonblocking barrier. Then rank 0 only computes and exchanges, always as the last rank, until the
 * others tell it that they have seen the barrier end. Prints the number of exchanges that this took, 1000 at most. */
#include <mpi.h>
#include <stdio.h>

enum { most_ranks = 16, most = 1000 };

static void compute(double seconds) {
  for (double begin = MPI_Wtime(); MPI_Wtime() - begin < seconds;);
}

int main(int argc, char **argv) {
  int rank, ranks, sent[most_ranks], got[most_ranks], has_ended = 0, all_ended = 0, exchanges = 0;
  MPI_Comm other;
  MPI_Request barrier;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_dup(MPI_COMM_WORLD, &other);
  for (int i = 0; i < ranks; ++i) sent[i] = 0;
  MPI_Alltoall(sent, 1, MPI_INT, got, 1, MPI_INT, MPI_COMM_WORLD);
  MPI_Ibarrier(other, &barrier);
  while (!all_ended && exchanges < most) {
    if (rank == 0) compute(2e-3);
    else if (!has_ended) MPI_Test(&barrier, &has_ended, MPI_STATUS_IGNORE);
    for (int i = 0; i < ranks; ++i) sent[i] = has_ended;
    MPI_Alltoall(sent, 1, MPI_INT, got, 1, MPI_INT, MPI_COMM_WORLD);
    ++exchanges;
    all_ended = 1;
    for (int i = 1; i < ranks; ++i) all_ended = all_ended && got[i];
  }
  if (rank == 0) printf("exchanges: %d\n", exchanges);
  MPI_Wait(&barrier, MPI_STATUS_IGNORE);
  MPI_Finalize();
  return 0;
}
