/* Exchanges with buffers that a device runtime calls its own: 3 calls with host memory, then 2 calls of each collective
 * in which the last rank alone receives into device memory, or sends from it. Only the MPI can read and write that
 * memory. If the runtime remembers errors, 3 more calls with host memory follow, the last one of shoal_exchange, while
 * rank 0 has an error that it has not seen yet. Prints whether the runtime was asked, and the error that it remembers.
 *
 * Arguments: a runtime to load with RTLD_LOCAL, as Python loads its modules; and "early" or "late", to load it before
 * or after the first calls with host memory. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { page = 4096 };

static void *runtime = RTLD_DEFAULT;
static int rank, ranks, faults, *sent, *got, *counts, *at, *on_device, in_mpi;

static void protect(int access) {
  if (on_device) mprotect(on_device, page, access);
}

/* Functions of the MPI that may access device memory, under the names by which Shoal calls them. */
#define OF_THE_MPI(name, parameters, arguments)           \
  int name parameters {                                   \
    int(*const real) parameters = dlsym(RTLD_NEXT, #name); \
    if (in_mpi++ == 0) protect(PROT_READ | PROT_WRITE);   \
    const int code = real arguments;                      \
    if (--in_mpi == 0) protect(PROT_NONE);                \
    return code;                                          \
  }
OF_THE_MPI(PMPI_Pack, (const void *from, int n, MPI_Datatype t, void *to, int bytes, int *position, MPI_Comm comm),
           (from, n, t, to, bytes, position, comm))
OF_THE_MPI(PMPI_Unpack, (const void *from, int bytes, int *position, void *to, int n, MPI_Datatype t, MPI_Comm comm),
           (from, bytes, position, to, n, t, comm))
OF_THE_MPI(PMPI_Alltoall, (const void *s, int n, MPI_Datatype t, void *r, int m, MPI_Datatype u, MPI_Comm comm),
           (s, n, t, r, m, u, comm))
OF_THE_MPI(PMPI_Alltoallv,
           (const void *s, const int *n, const int *p, MPI_Datatype t, void *r, const int *m, const int *q, MPI_Datatype u,
            MPI_Comm comm),
           (s, n, p, t, r, m, q, u, comm))

static void exchange(int uniform) {
  protect(PROT_READ | PROT_WRITE);
  for (int i = 0; i < ranks; ++i) sent[i] = rank * ranks + i, got[i] = -1;
  protect(PROT_NONE);
  if (uniform) MPI_Alltoall(sent, 1, MPI_INT, got, 1, MPI_INT, MPI_COMM_WORLD);
  else MPI_Alltoallv(sent, counts, at, MPI_INT, got, counts, at, MPI_INT, MPI_COMM_WORLD);
  protect(PROT_READ | PROT_WRITE);
  for (int i = 0; i < ranks; ++i) faults += got[i] != i * ranks + rank;
}

static void call_device_memory(int *buffer) {
  char **begin = dlsym(runtime, "fake_device_begin"), **end = dlsym(runtime, "fake_device_end");
  if (!begin || !end || rank < ranks - 1) return;
  *begin = (char *)buffer;
  *end = buffer ? *begin + page : NULL;
  on_device = buffer;
}

/* Sends nothing, by shoal_exchange, for which the MPI has no function. */
static void exchange_with_anyone(void) {
  void *const library = dlopen("libshoal-drop-in.so", RTLD_LAZY | RTLD_NOLOAD), *arrivals = NULL;
  int (*const sparse)(int, const int *, const void *, const MPI_Count *, const MPI_Aint *, MPI_Datatype, MPI_Comm,
                      void **) = library ? dlsym(library, "shoal_exchange") : NULL;
  void (*const forget)(void **) = library ? dlsym(library, "shoal_arrivals_free") : NULL;
  if (!sparse) return (void)++faults;
  faults += sparse(0, NULL, sent, NULL, NULL, MPI_INT, MPI_COMM_WORLD, &arrivals) != MPI_SUCCESS;
  forget(&arrivals);
}

static void exchange_with_an_error(void) {
  void (*const fail)(int) = dlsym(runtime, "fake_failure");
  int (*const last_error)(void) = dlsym(runtime, "hipGetLastError");
  if (!fail) return;
  faults += last_error() != 0;
  if (rank == 0) fail(7);
  exchange(0);
  exchange(1);
  exchange_with_anyone();
}

static void load(const char *path) {
  runtime = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!runtime) fprintf(stderr, "%s\n", dlerror()), exit(1);
}

static int *pages(void) {
  return mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  sent = pages(), got = pages();
  counts = malloc(sizeof(int) * ranks), at = malloc(sizeof(int) * ranks);
  for (int i = 0; i < ranks; ++i) counts[i] = 1, at[i] = i;
  if (argc > 2 && !strcmp(argv[2], "early")) load(argv[1]);
  for (int i = 0; i < 3; ++i) exchange(i % 2);
  if (argc > 2 && !strcmp(argv[2], "late")) load(argv[1]);
  call_device_memory(got);
  exchange(0);
  exchange(1);
  call_device_memory(sent);
  exchange(0);
  exchange(1);
  call_device_memory(NULL);
  exchange_with_an_error();
  MPI_Allreduce(MPI_IN_PLACE, &faults, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  const long *queries = dlsym(runtime, "fake_device_queries");
  int (*const last_error)(void) = dlsym(runtime, "hipGetLastError");
  if (rank == 0)
    printf("faults: %d, asked: %d, error: %d\n", faults, queries && *queries > 0, last_error ? last_error() : 0);
  MPI_Finalize();
  return faults > 0;
}
