/* Looks up the calls with 64-bit counts by name, as mpi4py does, and checks what they exchange.
 *
 * Prints how many of them it found, and the number of faults. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

typedef int alltoall_c(const void *, MPI_Count, MPI_Datatype, void *, MPI_Count, MPI_Datatype, MPI_Comm);
typedef int alltoallv_c(const void *, const MPI_Count *, const MPI_Aint *, MPI_Datatype, void *, const MPI_Count *,
                        const MPI_Aint *, MPI_Datatype, MPI_Comm);
typedef int allgatherv_c(const void *, MPI_Count, MPI_Datatype, void *, const MPI_Count *, const MPI_Aint *,
                         MPI_Datatype, MPI_Comm);

static int rank, ranks, faults, sent[64], got[64];
static MPI_Count ones[64];
static MPI_Aint places[64];

static void clear(void) {
  for (int i = 0; i < ranks; ++i) sent[i] = rank * 100 + i, got[i] = -1;
}

static void expect(int code, int gathered) {
  faults += code != MPI_SUCCESS;
  for (int i = 0; i < ranks; ++i) faults += got[i] != i * 100 + (gathered ? 0 : rank);
  clear();
}

static int find(const char *name, void *function) { return (*(void **)function = dlsym(RTLD_DEFAULT, name)) != NULL; }

int main(int argc, char **argv) {
  alltoall_c *alltoall, *allgather;
  alltoallv_c *alltoallv;
  allgatherv_c *allgatherv;
  int found = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int i = 0; i < ranks; ++i) ones[i] = 1, places[i] = i;
  clear();
  if (find("MPI_Alltoall_c", &alltoall))
    ++found, expect(alltoall(sent, 1, MPI_INT, got, 1, MPI_INT, MPI_COMM_WORLD), 0);
  if (find("MPI_Allgather_c", &allgather))
    ++found, expect(allgather(sent, 1, MPI_INT, got, 1, MPI_INT, MPI_COMM_WORLD), 1);
  if (find("MPI_Allgatherv_c", &allgatherv))
    ++found, expect(allgatherv(sent, 1, MPI_INT, got, ones, places, MPI_INT, MPI_COMM_WORLD), 1);
  if (find("MPI_Alltoallv_c", &alltoallv)) {
    ++found, expect(alltoallv(sent, ones, places, MPI_INT, got, ones, places, MPI_INT, MPI_COMM_WORLD), 0);
    for (int i = 0; i < ranks; ++i) got[i] = sent[i];
    expect(alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, got, ones, places, MPI_INT, MPI_COMM_WORLD), 0);
  }
  MPI_Allreduce(MPI_IN_PLACE, &faults, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("found: %d faults: %d\n", found, faults);
  MPI_Finalize();
  return faults > 0;
}
