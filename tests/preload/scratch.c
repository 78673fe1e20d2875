/* Exchanges blocks of 100,000 bytes with MPI_Alltoallv, in a program that gets errors returned. The rank that the
 * argument names has no memory for the first message that TuNA with radix 2 packs on 4 ranks: the malloc of this file,
 * which replaces the system's, refuses it. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 100000, RANKS = 4, MESSAGE = 229376 /* two blocks, rounded up by Shoal's pool */ };

static int refuses;
extern void *__libc_malloc(size_t size);
void *malloc(size_t size) { return refuses && size == MESSAGE ? NULL : __libc_malloc(size); }

static char out[RANKS * BLOCK], in[RANKS * BLOCK];

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  int rank, counts[RANKS], places[RANKS], wrong = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  refuses = rank == atoi(argv[1]);
  for (int i = 0; i < RANKS; ++i) {
    counts[i] = BLOCK;
    places[i] = i * BLOCK;
    memset(out + i * BLOCK, rank * RANKS + i, BLOCK);
  }
  const int code = MPI_Alltoallv(out, counts, places, MPI_CHAR, in, counts, places, MPI_CHAR, MPI_COMM_WORLD);
  for (int i = 0; i < RANKS * BLOCK; ++i) wrong += in[i] != i / BLOCK * RANKS + rank;
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("code %d wrong %d\n", code, wrong);
  MPI_Finalize();
  return 0;
}
