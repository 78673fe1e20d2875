#include "preload/narrowed.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int question(word comm, int* answer);

static void* mpi_handle;

static void* function(const char* name) { return dlsym(mpi_handle, name); }

static int fits(int64_t value) { return value >= INT_MIN && value <= INT_MAX; }

// MPI_ERR_COUNT is the same number in MPICH and in Open MPI.
static int too_large(void) {
  fprintf(stderr, "shoal: this MPI library has no collective for counts above 2147483647\n");
  return 2;
}

// With how many ranks a rank of this communicator exchanges.
static int peers_of(word comm) {
  int ranks = 0, inter = 0;
  ((question*)function("PMPI_Comm_test_inter"))(comm, &inter);
  ((question*)function(inter ? "PMPI_Comm_remote_size" : "PMPI_Comm_size"))(comm, &ranks);
  return ranks;
}

// A list as ints, which the caller frees; `good` becomes 0 if a value does not fit. Null if there is no list, or if
// `buffer` is MPI_IN_PLACE (of MPICH: -1, of Open MPI: 1), with which the list does not count.
static int* narrow(word buffer, word values, int ranks, int* good) {
  const int64_t* const wide = (const int64_t*)values;  // NOLINT(performance-no-int-to-ptr)
  if (!wide || buffer == -1 || buffer == 1) return NULL;
  int* const out = malloc(sizeof(int) * (ranks + 1));
  for (int i = 0; out && i < ranks; ++i) {
    *good &= fits(wide[i]);
    out[i] = (int)wide[i];
  }
  *good &= out != NULL;
  return out;
}

static int uniform(const char* name, word a, word b, word c, word d, word e, word f, word g) {
  if (!fits(b) || !fits(e)) return too_large();
  return ((call_7*)function(name))(a, b, c, d, e, f, g);
}
static int alltoall WORDS_7 { return uniform("PMPI_Alltoall", a, b, c, d, e, f, g); }
static int allgather WORDS_7 { return uniform("PMPI_Allgather", a, b, c, d, e, f, g); }

static int with_sizes(const char* name, word a, word b, word c, word d, word e, word f, word g, word h, word i) {
  const int ranks = peers_of(i);
  int good = 1;
  int* const lists[] = {narrow(a, b, ranks, &good), narrow(a, c, ranks, &good), narrow(0, f, ranks, &good),
                        narrow(0, g, ranks, &good)};
  const int code = !good ? too_large()
                         : ((call_9*)function(name))(a, (word)lists[0], (word)lists[1], d, e, (word)lists[2],
                                                     (word)lists[3], h, i);
  for (int k = 0; k < 4; ++k) free(lists[k]);
  return code;
}

static int alltoallv WORDS_9 { return with_sizes("PMPI_Alltoallv", a, b, c, d, e, f, g, h, i); }
static int alltoallw WORDS_9 { return with_sizes("PMPI_Alltoallw", a, b, c, d, e, f, g, h, i); }

static int allgatherv WORDS_8 {
  const int ranks = peers_of(h);
  int good = fits(b);
  int* const lists[] = {narrow(0, e, ranks, &good), narrow(0, f, ranks, &good)};
  const int code =
      !good ? too_large() : ((call_8*)function("PMPI_Allgatherv"))(a, b, c, d, (word)lists[0], (word)lists[1], g, h);
  for (int k = 0; k < 2; ++k) free(lists[k]);
  return code;
}

void* narrowed(const char* name, void* mpi) {
  static const struct {
    const char* name;
    void* function;
  } all[] = {{"MPI_Alltoall_c", alltoall},
             {"MPI_Alltoallv_c", alltoallv},
             {"MPI_Alltoallw_c", alltoallw},
             {"MPI_Allgather_c", allgather},
             {"MPI_Allgatherv_c", allgatherv}};
  mpi_handle = mpi;
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i)
    if (!strcmp(name, all[i].name)) return all[i].function;
  return NULL;
}
