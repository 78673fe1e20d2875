/* Threads exchange at the same time, each on a communicator of its own, as often as Shoal needs to learn. One of them
 * also starts messages, which the other threads move meanwhile. Prints the number of faults.
 *
 * Argument: the number of exchanges of each thread. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { threads = 3, most = 8, largest = 40 };

static int rank, ranks, times;
static struct {
  MPI_Comm comm;
  int number, faults;
} of[threads];

static int value(int number, int time, int from, int to, int i) { return number * 100000 + time * 100 + from * 10 + to + i; }

static void exchange(int number, int time) {
  const int varies = number == 1, size = varies ? 1 + time % largest : 2;
  int out[most * largest], in[most * largest], counts[most], at[most];
  for (int peer = 0; peer < ranks; ++peer) {
    counts[peer] = size, at[peer] = peer * size;
    for (int i = 0; i < size; ++i) out[at[peer] + i] = value(number, time, rank, peer, i), in[at[peer] + i] = -1;
  }
  if (varies) MPI_Alltoallv(out, counts, at, MPI_INT, in, counts, at, MPI_INT, of[number].comm);
  else MPI_Alltoall(out, size, MPI_INT, in, size, MPI_INT, of[number].comm);
  for (int peer = 0; peer < ranks; ++peer)
    for (int i = 0; i < size; ++i) of[number].faults += in[at[peer] + i] != value(number, time, peer, rank, i);
}

static void* exchange_all(void* mine) {
  const int number = *(int*)mine;
  for (int time = 0; time < times; ++time) {
    int came = -1, sent = time;
    MPI_Request open[2];
    const int tells = number == 2 && time % 50 == 0;
    if (tells) MPI_Irecv(&came, 1, MPI_INT, (rank + 1) % ranks, 0, of[number].comm, &open[0]);
    if (tells) MPI_Isend(&sent, 1, MPI_INT, (rank + ranks - 1) % ranks, 0, of[number].comm, &open[1]);
    exchange(number, time);
    if (tells) MPI_Waitall(2, open, MPI_STATUSES_IGNORE);
    of[number].faults += tells && came != time;
  }
  return NULL;
}

int main(int argc, char** argv) {
  int given, faults = 0;
  pthread_t all[threads];
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &given);
  times = argc > 1 ? atoi(argv[1]) : 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int i = 0; i < threads; ++i) of[i].number = i, MPI_Comm_dup(MPI_COMM_WORLD, &of[i].comm);
  for (int i = 0; i < threads; ++i) pthread_create(&all[i], NULL, exchange_all, &of[i].number);
  for (int i = 0; i < threads; ++i) pthread_join(all[i], NULL);
  for (int i = 0; i < threads; ++i) faults += of[i].faults, MPI_Comm_free(&of[i].comm);
  MPI_Allreduce(MPI_IN_PLACE, &faults, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("faults: %d\n", given == MPI_THREAD_MULTIPLE ? faults : -1);
  MPI_Finalize();
  return 0;
}
