/* Makes every call of the all-to-all family that the MPI has with wrong arguments, one mistake after the other, and
 * checks a right call after each. All ranks make the same mistake. With "one" as the first argument rank 1 alone makes
 * it, in calls that make persistent requests, which are not started. After such a call the MPI's own collectives on
 * that communicator need not match any more, so each of these calls gets communicators of its own. The functions are
 * looked up by name, as mpi4py looks up newer ones, and arguments are passed as machine words.
 *
 * Prints for each wrong call the class of the error on every rank, 0 for none. Other arguments are patterns of calls to
 * leave out. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fnmatch.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { most = 16 };

typedef intptr_t word;
typedef int words(word, word, word, word, word, word, word, word, word, word, word, word);

static int one_alone, rank, ranks, faults, sent[most], got[most];
static int ones[most], places[most], bytes[most], negative[most];
static MPI_Count wide_ones[most], wide_negative[most];
static MPI_Aint wide_places[most], wide_bytes[most];
static MPI_Datatype types[most], no_types[most], uncommitted_types[most], uncommitted;
static MPI_Comm world, everyone; /* `everyone` is a graph in which all ranks are neighbours */

static struct {
  words *function;
  char name[64];
  char form; /* ' ', 'v' or 'w' */
  int is_wide, is_among_neighbors, has_request, is_persistent;
} of;

/* Positions of arguments: buffer, counts, displacements and type in their side of the call, the others in the whole
 * call. */
enum { buffer, counts, displacements };
static int type_at(void) { return of.form == ' ' ? 2 : 3; }
static int side(void) { return type_at() + 1; }
static int comm_at(void) { return 2 * side(); }
static int request_at(void) { return comm_at() + 1 + of.is_persistent; }

static void prepare(void) {
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Type_contiguous(1, MPI_INT, &uncommitted);
  for (int i = 0; i < ranks; ++i) {
    const int is_last = i == ranks - 1;
    ones[i] = wide_ones[i] = 1, places[i] = wide_places[i] = i;
    bytes[i] = wide_bytes[i] = i * (int)sizeof(int);
    negative[i] = wide_negative[i] = is_last ? -1 : 1;
    types[i] = MPI_INT;
    no_types[i] = is_last ? MPI_DATATYPE_NULL : MPI_INT, uncommitted_types[i] = is_last ? uncommitted : MPI_INT;
  }
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, ranks, places, ones, ranks, places, ones, MPI_INFO_NULL, 0, &everyone);
  world = MPI_COMM_WORLD;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(everyone, MPI_ERRORS_RETURN);
}

static void add_side(word *to, const void *at) {
  to[buffer] = (word)at;
  to[counts] = of.form == ' ' ? 1 : of.is_wide ? (word)wide_ones : (word)ones;
  if (of.form == 'v') to[displacements] = of.is_wide ? (word)wide_places : (word)places;
  if (of.form == 'w') to[displacements] = of.is_wide || of.is_among_neighbors ? (word)wide_bytes : (word)bytes;
  to[type_at()] = of.form == 'w' ? (word)types : (word)MPI_INT;
}

static void right(word *a, MPI_Request *request) {
  add_side(a, sent);
  add_side(a + side(), got);
  a[comm_at()] = (word)(of.is_among_neighbors ? everyone : world);
  if (of.is_persistent) a[comm_at() + 1] = (word)MPI_INFO_NULL;
  if (of.has_request) a[request_at()] = (word)request;
}

/* Makes the call, and starts and ends its request if `is_started`. Returns the first error. */
static int call(const word *a, MPI_Request *request, int is_started) {
  int code = of.function(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11]);
  if (code != MPI_SUCCESS || !of.has_request) return code;
  if (of.is_persistent && is_started) code = MPI_Start(request);
  const int ended = is_started ? MPI_Wait(request, MPI_STATUS_IGNORE) : MPI_SUCCESS;
  if (of.is_persistent) MPI_Request_free(request);
  return code != MPI_SUCCESS ? code : ended;
}

static void call_right(void) {
  MPI_Request request = MPI_REQUEST_NULL;
  word a[12] = {0};
  right(a, &request);
  for (int i = 0; i < ranks; ++i) sent[i] = rank * 100 + i, got[i] = -1;
  faults += call(a, &request, 1) != MPI_SUCCESS;
  for (int i = 0; i < ranks; ++i) faults += got[i] != i * 100 + rank;
}

static int left_out, argument_count;
static char **arguments;

static int is_left_out(const char *what) {
  char line[128];
  snprintf(line, sizeof line, "%s %s", of.name, what);
  for (int i = 1; i < argument_count; ++i)
    if (!fnmatch(arguments[i], line, 0)) return ++left_out;
  return 0;
}

static void call_with(const char *what, int at, word value) {
  MPI_Request request = MPI_REQUEST_NULL;
  word a[12] = {0};
  int class = MPI_SUCCESS, classes[most];
  right(a, &request);
  if (!one_alone || rank == 1) a[at] = value;
  if (rank == 0) printf("%s %s:", of.name, what), fflush(stdout); /* flushed, to show which call crashes */
  MPI_Error_class(call(a, &request, !one_alone), &class);
  MPI_Gather(&class, 1, MPI_INT, classes, 1, MPI_INT, 0, MPI_COMM_WORLD);
  for (int i = 0; rank == 0 && i < ranks; ++i) printf(" %d%s", classes[i], i == ranks - 1 ? "\n" : "");
  fflush(stdout);
}

static void call_with_on_copies(const char *what, int at, word value) {
  const MPI_Comm worlds = world, everyones = everyone;
  MPI_Comm_dup(worlds, &world);
  MPI_Comm_dup(everyones, &everyone);
  call_with(what, at, value);
  MPI_Comm_free(&everyone);
  MPI_Comm_free(&world);
  world = worlds, everyone = everyones;
}

static void call_wrong(const char *what, int at, word value) {
  if (is_left_out(what)) return;
  if (one_alone) call_with_on_copies(what, at, value);
  else call_with(what, at, value);
  call_right();
}

static void call_side_wrong(const char *prefix, int from) {
  char what[64];
#define WRONG(name, at, value) snprintf(what, sizeof what, "%s%s", prefix, name), call_wrong(what, from + (at), (word)(value))
  WRONG("null buffer", buffer, NULL);
  if (of.form == ' ') WRONG("negative count", counts, -1);
  else WRONG("negative count", counts, of.is_wide ? (word)wide_negative : (word)negative);
  WRONG("null type", type_at(), of.form == 'w' ? (word)no_types : (word)MPI_DATATYPE_NULL);
  WRONG("uncommitted type", type_at(), of.form == 'w' ? (word)uncommitted_types : (word)uncommitted);
  if (of.form == ' ') return;
  WRONG("null counts", counts, NULL);
  WRONG("null displacements", displacements, NULL);
  if (of.form == 'w') WRONG("null types", type_at(), NULL);
#undef WRONG
}

static void call_all_wrong(void) {
  call_right();
  call_side_wrong("send ", 0);
  call_side_wrong("receive ", side());
  call_wrong("receive in place", side(), (word)MPI_IN_PLACE);
  if (of.is_among_neighbors) call_wrong("send in place", buffer, (word)MPI_IN_PLACE);
  if (of.is_among_neighbors) call_wrong("no neighbours", comm_at(), (word)MPI_COMM_WORLD);
  call_wrong("both in one buffer", side(), (word)sent);
  call_wrong("no communicator", comm_at(), (word)MPI_COMM_NULL);
  if (of.has_request) call_wrong("null request", request_at(), 0);
}

static void call_functions(const char *stem, char form, int is_persistent) {
  of.form = form, of.is_persistent = is_persistent;
  of.has_request = is_persistent || *stem == 'I', of.is_among_neighbors = strstr(stem, "eighbor") != NULL;
  for (of.is_wide = 0; of.is_wide < 2; ++of.is_wide) {
    snprintf(of.name, sizeof of.name, "MPI_%s%.*s%s%s", stem, form != ' ', &form, is_persistent ? "_init" : "",
             of.is_wide ? "_c" : "");
    of.function = (words *)dlsym(RTLD_DEFAULT, of.name);
    if (of.function && (is_persistent || !one_alone)) call_all_wrong();
  }
}

int main(int argc, char **argv) {
  argument_count = argc, arguments = argv;
  one_alone = argc > 1 && !strcmp(argv[1], "one");
  MPI_Init(&argc, &argv);
  prepare();
  for (const char *form = " vw"; *form; ++form) {
    call_functions("Alltoall", *form, 0);
    call_functions("Ialltoall", *form, 0);
    call_functions("Alltoall", *form, 1);
    call_functions("Neighbor_alltoall", *form, 0);
    call_functions("Ineighbor_alltoall", *form, 0);
    call_functions("Neighbor_alltoall", *form, 1);
  }
  MPI_Comm_free(&everyone);
  MPI_Type_free(&uncommitted);
  MPI_Allreduce(MPI_IN_PLACE, &faults, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("left out: %d\nfaults: %d\n", left_out, faults);
  MPI_Finalize();
  return faults > 0;
}
