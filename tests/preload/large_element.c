/* Elements of more than 2 GiB, as libraries for large counts make them: a vector of long pieces, and a few bytes behind
 * it. Rank 0 sends one such element to rank 1. In the first exchange there is a gap before these bytes, so the element
 * must be packed; in the second there is none. Both are done by a blocking call and, if the MPI has persistent ones, by
 * a persistent one. Prints the number of faults. */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

/* Open MPI 5 has persistent exchanges, though it does not call itself MPI 4 yet. */
#define HAS_PERSISTENT (MPI_VERSION >= 4 || OMPI_MAJOR_VERSION >= 5)

enum { most = 16, tail = 24 };

static const MPI_Aint gib = (MPI_Aint)1 << 30, most_gap = 4096;
static int rank, faults, sends[most], receives[most], zeros[most];

static MPI_Datatype large(MPI_Aint gap) {
  MPI_Datatype parts[2], type;
  const int once[] = {1, 1};
  const MPI_Aint places[] = {0, 2 * gib + gap};
  MPI_Type_vector(2, gib, gib, MPI_BYTE, &parts[0]);
  MPI_Type_contiguous(tail, MPI_BYTE, &parts[1]);
  MPI_Type_create_struct(2, once, places, parts, &type);
  MPI_Type_commit(&type);
  MPI_Type_free(&parts[0]), MPI_Type_free(&parts[1]);
  return type;
}

/* Takes memory only for the pages that are written. */
static char *memory(void) {
  return mmap(NULL, 2 * gib + 2 * most_gap, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

static void mark(char *at, MPI_Aint gap, int number) {
  at[100] = (char)number, at[gib] = (char)(number + 1), at[2 * gib - 1] = (char)(number + 2);
  memset(at + 2 * gib + gap, number + 3, tail);
}

static void check(const char *at, MPI_Aint gap, int number) {
  if (rank != 1) return;
  faults += at[100] != number || at[gib] != number + 1 || at[2 * gib - 1] != number + 2 || at[101] != 0;
  for (int i = 0; i < tail; ++i) faults += at[2 * gib + gap + i] != number + 3;
  for (int i = 0; i < gap; ++i) faults += at[2 * gib + i] != 0;
}

static void exchange(const char *out, char *in, MPI_Datatype type) {
  faults += MPI_Alltoallv(out, sends, zeros, type, in, receives, zeros, type, MPI_COMM_WORLD) != MPI_SUCCESS;
}

static void exchange_with(MPI_Aint gap) {
  char *const out = memory(), *const in = memory();
  MPI_Datatype type = large(gap);
  mark(out, gap, 1);
  exchange(out, in, type);
  check(in, gap, 1);
#if HAS_PERSISTENT
  MPI_Request request;
  MPI_Alltoallv_init(out, sends, zeros, type, in, receives, zeros, type, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  mark(out, gap, 11);
  MPI_Start(&request);
  faults += MPI_Wait(&request, MPI_STATUS_IGNORE) != MPI_SUCCESS;
  check(in, gap, 11);
  MPI_Request_free(&request);
#endif
  MPI_Type_free(&type);
  munmap(out, 2 * gib + 2 * most_gap), munmap(in, 2 * gib + 2 * most_gap);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  sends[1] = rank == 0, receives[0] = rank == 1;
  exchange_with(most_gap);
  exchange_with(0);
  MPI_Allreduce(MPI_IN_PLACE, &faults, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("faults: %d\n", faults);
  MPI_Finalize();
  return faults > 0;
}
