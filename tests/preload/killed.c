/* Exchanges without end, in which the last rank kills itself. Rank 0 prints the process numbers of all ranks first. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

enum { block = 1 << 18 };

static void die(int signal) {
  (void)signal;
  kill(getpid(), SIGKILL);
}

int main(int argc, char **argv) {
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  char *sent = calloc(ranks, block), *got = calloc(ranks, block);
  MPI_Alltoall(sent, block, MPI_BYTE, got, block, MPI_BYTE, MPI_COMM_WORLD);
  int *all = calloc(ranks, sizeof *all), mine = getpid();
  MPI_Gather(&mine, 1, MPI_INT, all, 1, MPI_INT, 0, MPI_COMM_WORLD);
  for (int i = 0; i < ranks && rank == 0; ++i) printf("process %d\n", all[i]);
  fflush(stdout);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == ranks - 1) {
    const struct itimerval soon = {{0, 0}, {0, 50000}};
    signal(SIGALRM, die);
    setitimer(ITIMER_REAL, &soon, NULL);
  }
  for (;;) MPI_Alltoall(sent, block, MPI_BYTE, got, block, MPI_BYTE, MPI_COMM_WORLD);
}
