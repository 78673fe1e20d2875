/* Exchanges with buffers that a device runtime calls its own: 3 calls with host memory, then 2 of each collective where
 * the last rank alone receives into, or sends from, device memory. Prints how often the runtime was asked. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int rank, ranks, faults, *sent, *got, *counts, *at;

static void exchange(int uniform) {
  for (int i = 0; i < ranks; ++i) sent[i] = rank * ranks + i, got[i] = -1;
  if (uniform) MPI_Alltoall(sent, 1, MPI_INT, got, 1, MPI_INT, MPI_COMM_WORLD);
  else MPI_Alltoallv(sent, counts, at, MPI_INT, got, counts, at, MPI_INT, MPI_COMM_WORLD);
  for (int i = 0; i < ranks; ++i) faults += got[i] != i * ranks + rank;
}

static void call_device_memory(int *buffer) {
  char **begin = dlsym(RTLD_DEFAULT, "fake_device_begin"), **end = dlsym(RTLD_DEFAULT, "fake_device_end");
  if (!begin || !end || rank < ranks - 1) return;
  *begin = (char *)buffer;
  *end = (char *)(buffer + ranks);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  sent = malloc(sizeof(int) * ranks), got = malloc(sizeof(int) * ranks);
  counts = malloc(sizeof(int) * ranks), at = malloc(sizeof(int) * ranks);
  for (int i = 0; i < ranks; ++i) counts[i] = 1, at[i] = i;
  for (int i = 0; i < 3; ++i) exchange(i % 2);
  call_device_memory(got);
  exchange(0);
  exchange(1);
  call_device_memory(sent);
  exchange(0);
  exchange(1);
  MPI_Allreduce(MPI_IN_PLACE, &faults, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  const long *queries = dlsym(RTLD_DEFAULT, "fake_device_queries");
  if (rank == 0) printf("faults: %d, asked: %d\n", faults, queries && *queries > 0);
  MPI_Finalize();
  return faults > 0;
}
