// The two halves of the ranks exchange messages by allgathers, again and again. Prints the seconds of all steps:
//
//   groups allgather|allgatherv STEPS BYTES
//
// Every step checks the first and the last byte of every message.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned char value(int step, int from, int end) { return step * 7 + from * 31 + end; }

static void check(const unsigned char *got, int senders, int first, int step, int bytes) {
  for (int i = 0; i < senders; ++i)
    for (int end = 0; end < bytes; end += bytes > 1 ? bytes - 1 : 1)
      if (got[(size_t)i * bytes + end] != value(step, first + i, end)) {
        fprintf(stderr, "groups: a message has wrong bytes\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
      }
}

int main(int count, char **words) {
  int ranks, rank, senders;
  MPI_Comm half, groups;
  MPI_Init(&count, &words);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (count != 4 || atoi(words[3]) < 1 || ranks < 2)
    return fprintf(stderr, "usage: groups allgather|allgatherv STEPS BYTES, on two ranks or more\n"), 2;
  const int equal = !strcmp(words[1], "allgather"), steps = atoi(words[2]), bytes = atoi(words[3]);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int middle = ranks / 2, first = rank < middle ? middle : 0;  // the first rank of the other half
  MPI_Comm_split(MPI_COMM_WORLD, rank < middle, rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, first, 0, &groups);
  MPI_Comm_remote_size(groups, &senders);

  unsigned char *sent = calloc(bytes, 1), *got = calloc(senders, bytes);
  int *counts = malloc(senders * sizeof *counts), *places = malloc(senders * sizeof *places);
  for (int i = 0; i < senders; ++i) counts[i] = bytes, places[i] = i * bytes;

  MPI_Barrier(MPI_COMM_WORLD);
  const double began = MPI_Wtime();
  for (int step = 0; step < steps; ++step) {
    sent[0] = value(step, rank, 0), sent[bytes - 1] = value(step, rank, bytes - 1);
    if (equal) MPI_Allgather(sent, bytes, MPI_BYTE, got, bytes, MPI_BYTE, groups);
    else MPI_Allgatherv(sent, bytes, MPI_BYTE, got, counts, places, MPI_BYTE, groups);
    check(got, senders, first, step, bytes);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) printf("SECONDS %.9f\n", MPI_Wtime() - began);
  MPI_Finalize();
}
