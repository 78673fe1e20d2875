/* Makes every call of the all-to-all family that the MPI has, except the blocking ones among all ranks, and checks what
 * they exchange; then makes one call between two groups. The functions are looked up by name, as mpi4py looks up newer
 * ones, and arguments are passed as machine words.
 *
 * Prints the names of the calls that it finds. With an argument it makes no call. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { most = 16 };

typedef intptr_t word;
typedef int words(word, word, word, word, word, word, word, word, word, word, word, word);

static int rank, ranks, faults, sent[most], got[most];
static int ones[most], places[most], bytes[most];
static MPI_Count wide_ones[most];
static MPI_Aint wide_places[most], wide_bytes[most];
static MPI_Datatype types[most];
static MPI_Comm everyone; /* a graph in which all ranks are neighbours */

static void prepare(void) {
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int i = 0; i < ranks; ++i) {
    ones[i] = wide_ones[i] = 1, places[i] = wide_places[i] = i;
    bytes[i] = wide_bytes[i] = i * (int)sizeof(int);
    types[i] = MPI_INT, sent[i] = rank * 100 + i;
  }
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, ranks, places, MPI_UNWEIGHTED, ranks, places, MPI_UNWEIGHTED,
                                 MPI_INFO_NULL, 0, &everyone);
}

static void expect(int code) {
  faults += code != MPI_SUCCESS;
  for (int i = 0; i < ranks; ++i) faults += got[i] != i * 100 + rank, got[i] = -1;
}

static int add_side(word *to, const void *buffer, char form, int wide, int neighbors) {
  to[0] = (word)buffer;
  if (form == ' ') return to[1] = 1, to[2] = (word)MPI_INT, 3;
  const int long_bytes = wide || neighbors;
  to[1] = wide ? (word)wide_ones : (word)ones;
  if (form == 'v') to[2] = wide ? (word)wide_places : (word)places;
  else to[2] = long_bytes ? (word)wide_bytes : (word)bytes;
  to[3] = form == 'v' ? (word)MPI_INT : (word)types;
  return 4;
}

static void call(const char *name, char form, int init, int wide) {
  words *const function = (words *)dlsym(RTLD_DEFAULT, name);
  if (!function) return;
  if (rank == 0) printf("%s\n", name + strlen("MPI_"));
  const int neighbors = strstr(name, "eighbor") != NULL, started = name[4] == 'I';
  MPI_Request request = MPI_REQUEST_NULL;
  word a[12] = {0};
  int n = add_side(a, sent, form, wide, neighbors);
  n += add_side(a + n, got, form, wide, neighbors);
  a[n++] = (word)(neighbors ? everyone : MPI_COMM_WORLD);
  if (init) a[n++] = (word)MPI_INFO_NULL;
  if (init || started) a[n++] = (word)&request;
  const int code = function(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11]);
  if (init) MPI_Start(&request);
  if (init || started) MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (init) MPI_Request_free(&request);
  expect(code);
}

static void call_all(void) {
  static const char *const kinds[] = {"Alltoall", "Ialltoall", "Neighbor_alltoall", "Ineighbor_alltoall"};
  for (int kind = 0; kind < 4; ++kind)
    for (const char *form = " vw"; *form; ++form)
      for (int init = 0; init <= (kind % 2 == 0); ++init)
        for (int wide = 0; wide < 2; ++wide) {
          char name[64];
          const int served = kind == 0 && !init;
          snprintf(name, sizeof name, "MPI_%s%.*s%s%s", kinds[kind], *form != ' ', form, init ? "_init" : "",
                   wide ? "_c" : "");
          if (!served) call(name, *form, init, wide);
        }
}

static void call_between_groups(void) {
  if (ranks % 2) return;
  MPI_Comm half, both;
  MPI_Comm_split(MPI_COMM_WORLD, rank < ranks / 2, rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank < ranks / 2 ? ranks / 2 : 0, 1, &both);
  faults += MPI_Alltoall(sent, 1, MPI_INT, got, 1, MPI_INT, both) != MPI_SUCCESS;
  MPI_Comm_free(&both);
  MPI_Comm_free(&half);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  prepare();
  if (argc == 1) call_all(), call_between_groups();
  MPI_Comm_free(&everyone);
  MPI_Allreduce(MPI_IN_PLACE, &faults, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("faults: %d\n", faults);
  MPI_Finalize();
  return faults > 0;
}
