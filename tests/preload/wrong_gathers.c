/* Makes MPI_Allgather and MPI_Allgatherv between the even and the odd ranks with wrong arguments, one mistake after the
 * other, and checks a right call after each. All ranks make the same mistake.
 *
 * Prints for each wrong call the class of the error on every rank, 0 for none. Arguments are patterns of calls to leave
 * out. */
#include <fnmatch.h>
#include <mpi.h>
#include <stdio.h>

enum { most = 16 };

struct call {
  int has_sizes; /* MPI_Allgatherv */
  const void *send;
  int send_count;
  MPI_Datatype send_type;
  void *recv;
  const int *recv_counts, *places;
  MPI_Datatype recv_type;
};

static int rank, others, world_rank, world_ranks, faults, pattern_count;
static int got[most], ones[most], places[most], negative[most];
static char **patterns;
static MPI_Comm both;

static void prepare(void) {
  MPI_Comm half;
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_ranks);
  const int side = world_rank % 2;
  MPI_Comm_split(MPI_COMM_WORLD, side, world_rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - side, 0, &both);
  MPI_Comm_free(&half);
  MPI_Comm_rank(both, &rank);
  MPI_Comm_remote_size(both, &others);
  MPI_Comm_set_errhandler(both, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN); /* MPICH raises some errors of arguments there */
  for (int i = 0; i < most; ++i) ones[i] = 1, places[i] = i, negative[i] = -1;
}

static int make(const struct call *c) {
  if (c->has_sizes)
    return MPI_Allgatherv(c->send, c->send_count, c->send_type, c->recv, c->recv_counts, c->places, c->recv_type, both);
  return MPI_Allgather(c->send, c->send_count, c->send_type, c->recv, c->recv_counts[0], c->recv_type, both);
}

static struct call right(int has_sizes) {
  return (struct call){has_sizes, &world_rank, 1, MPI_INT, got, ones, places, MPI_INT};
}

static void make_right(int has_sizes) {
  const struct call c = right(has_sizes);
  for (int i = 0; i < others; ++i) got[i] = -1;
  faults += make(&c) != MPI_SUCCESS;
  for (int i = 0; i < others; ++i) faults += got[i] != 2 * i + 1 - world_rank % 2;
}

static void make_wrong(const char *what, struct call c) {
  char line[128];
  int class = MPI_SUCCESS, classes[most];
  snprintf(line, sizeof line, "MPI_Allgather%s %s", c.has_sizes ? "v" : "", what);
  for (int i = 0; i < pattern_count; ++i)
    if (!fnmatch(patterns[i], line, 0)) return;
  if (world_rank == 0) printf("%s:", line), fflush(stdout); /* flushed, to show which call crashes */
  MPI_Error_class(make(&c), &class);
  MPI_Gather(&class, 1, MPI_INT, classes, 1, MPI_INT, 0, MPI_COMM_WORLD);
  for (int i = 0; world_rank == 0 && i < world_ranks; ++i) printf(" %d", classes[i]);
  if (world_rank == 0) printf("\n"), fflush(stdout);
  make_right(c.has_sizes);
}

static void make_all_wrong(int has_sizes, MPI_Datatype uncommitted) {
  const struct call r = right(has_sizes);
  struct call c;
#define WRONG(what, member, value) c = r, c.member = (value), make_wrong(what, c)
  make_right(has_sizes);
  WRONG("send null buffer", send, NULL);
  WRONG("send in place", send, MPI_IN_PLACE);
  WRONG("send negative count", send_count, -1);
  WRONG("send null type", send_type, MPI_DATATYPE_NULL);
  WRONG("send uncommitted type", send_type, uncommitted);
  WRONG("receive null buffer", recv, NULL);
  WRONG("receive in place", recv, MPI_IN_PLACE);
  WRONG("receive negative count", recv_counts, negative);
  WRONG("receive null type", recv_type, MPI_DATATYPE_NULL);
  WRONG("receive uncommitted type", recv_type, uncommitted);
#undef WRONG
}

int main(int argc, char **argv) {
  MPI_Datatype uncommitted;
  pattern_count = argc - 1, patterns = argv + 1;
  MPI_Init(&argc, &argv);
  prepare();
  MPI_Type_contiguous(1, MPI_INT, &uncommitted);
  for (int has_sizes = 0; has_sizes < 2; ++has_sizes) make_all_wrong(has_sizes, uncommitted);
  MPI_Type_free(&uncommitted);
  MPI_Comm_free(&both);
  MPI_Allreduce(MPI_IN_PLACE, &faults, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (world_rank == 0) printf("faults: %d\n", faults);
  MPI_Finalize();
  return faults > 0;
}
