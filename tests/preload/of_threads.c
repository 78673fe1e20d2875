/* Exchanges on communicators of MPICH that belong to threads. Prints the number of faults.
 *
 * Argument: "streams": each thread has a communicator with a stream of its own, but rank 0 gives none for the second,
 * and the third is a duplicate. "multiplex": the same, but these communicators could have several streams. "one": the
 * program has one thread, and one such communicator. "ranks": the
 * threads of all processes are the ranks of one communicator. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { all_threads = 3, most = 16, times = 400 };

static MPI_Comm of[all_threads];
static MPIX_Stream streams[all_threads];
static int numbers[all_threads], faults[all_threads], threads = all_threads, are_ranks, are_multiplex;

static int value(int from, int to, int time) { return from * 10000 + to * 1000 + time; }

static void exchange(int thread, int rank, int ranks, int time) {
  int out[most], in[most], ones[most], places[most];
  for (int peer = 0; peer < ranks; ++peer) {
    out[peer] = value(rank, peer, time), in[peer] = -1;
    ones[peer] = 1, places[peer] = peer;
  }
  if (time % 2) MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, of[thread]);
  else MPI_Alltoallv(out, ones, places, MPI_INT, in, ones, places, MPI_INT, of[thread]);
  for (int peer = 0; peer < ranks; ++peer) faults[thread] += in[peer] != value(peer, rank, time);
}

static void *exchange_all(void *number) {
  const int thread = *(int *)number;
  int rank, ranks;
  if (are_ranks) MPIX_Threadcomm_start(of[thread]);
  MPI_Comm_rank(of[thread], &rank);
  MPI_Comm_size(of[thread], &ranks);
  for (int time = 0; time < times; ++time) exchange(thread, rank, ranks, time);
  if (are_ranks) MPIX_Threadcomm_finish(of[thread]);
  return NULL;
}

static MPI_Comm with_stream(int thread, int rank) {
  MPIX_Stream given;
  MPI_Comm made, copy;
  MPIX_Stream_create(MPI_INFO_NULL, &streams[thread]);
  given = rank == 0 && thread == 1 ? MPIX_STREAM_NULL : streams[thread];
  if (are_multiplex) MPIX_Stream_comm_create_multiplex(MPI_COMM_WORLD, 1, &given, &made);
  else MPIX_Stream_comm_create(MPI_COMM_WORLD, given, &made);
  if (thread < 2) return made;
  MPI_Comm_dup(made, &copy);
  MPI_Comm_free(&made);
  return copy;
}

int main(int argc, char **argv) {
  int provided, rank, sum = 0, all = 0;
  pthread_t running[all_threads];
  if (argc > 1 && strcmp(argv[1], "one") == 0) threads = 1;
  MPI_Init_thread(&argc, &argv, threads > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  are_ranks = argc > 1 && strcmp(argv[1], "ranks") == 0;
  are_multiplex = argc > 1 && strcmp(argv[1], "multiplex") == 0;
  if (are_ranks) MPIX_Threadcomm_init(MPI_COMM_WORLD, threads, &of[0]);
  for (int i = 0; i < threads; ++i) {
    numbers[i] = i;
    of[i] = are_ranks ? of[0] : with_stream(i, rank);
  }
  for (int i = 1; i < threads; ++i) pthread_create(&running[i], NULL, exchange_all, &numbers[i]);
  exchange_all(&numbers[0]);
  for (int i = 1; i < threads; ++i) pthread_join(running[i], NULL);
  for (int i = 0; i < threads; ++i) sum += faults[i];
  if (are_ranks) MPIX_Threadcomm_free(&of[0]);
  for (int i = 0; i < threads && !are_ranks; ++i) {
    MPI_Comm_free(&of[i]);
    MPIX_Stream_free(&streams[i]);
  }
  MPI_Reduce(&sum, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("faults: %d\n", all);
  MPI_Finalize();
  return all > 0;
}
