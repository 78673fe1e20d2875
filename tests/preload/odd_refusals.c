/* In every seventh round rank 0 gives arguments for which it is not obvious whether the MPI refuses them, and whether
 * other ranks wait.
 *
 * Arguments: the case, and the number of rounds.
 * empty: nobody sends anything by MPI_Alltoall, and rank 0's type is refused. Nobody repeats the call.
 * itself: Open MPI refuses a call in which a rank does not send itself what it receives from itself. Rank 0 makes the
 *   right call next.
 * one_buffer: MPICH accepts one buffer for both sides, if each side has count arrays of its own.
 * no_blocks: rank 0 sends and receives nothing, and its type is refused, but blocks of others may pass through it.
 * leaves: rank 0's call is refused, and it frees the communicator. The others, whose blocks are empty, free it after
 *   their call. The ranks have agreed on another communicator before, and begin to agree on this one. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { most = 16, calls_before_agreement = 96, late = 250 };

static int rank, ranks, faults;
static int sent[2 * most], counts[most], other_counts[most], from[most], to[most];
static MPI_Datatype uncommitted;

static void fill(int call) {
  for (int i = 0; i < ranks; ++i) {
    sent[i] = call * 1000 + rank * 10 + i;
    counts[i] = other_counts[i] = 1, from[i] = to[i] = i;
  }
}

static void check(int call, const int* got, int first) {
  for (int i = first; i < ranks; ++i) faults += got[i] != call * 1000 + i * 10 + rank;
}

static void exchange(int call, MPI_Comm comm, int by_equal_blocks) {
  int got[most];
  fill(call);
  memset(got, -1, sizeof got);
  faults += by_equal_blocks ? MPI_Alltoall(sent, 1, MPI_INT, got, 1, MPI_INT, comm)
                            : MPI_Alltoallv(sent, counts, from, MPI_INT, got, counts, to, MPI_INT, comm);
  check(call, got, 0);
}

static void empty(int call, MPI_Comm comm) {
  (void)call;
  int none[1];
  const MPI_Datatype type = rank ? MPI_INT : uncommitted;
  const int code = MPI_Alltoall(sent, 0, type, none, 0, type, comm);
  faults += (code == MPI_SUCCESS) != (rank > 0);
}

static void itself(int call, MPI_Comm comm) {
  int got[most];
  fill(call);
  counts[0] = 0;
  if (rank) return;
  faults += MPI_Alltoallv(sent, counts, from, MPI_INT, got, other_counts, to, MPI_INT, comm) == MPI_SUCCESS;
  faults += MPI_Alltoall(sent, 2, MPI_INT, got, 1, MPI_INT, comm) == MPI_SUCCESS;
}

static void one_buffer(int call, MPI_Comm comm) {
  fill(call);
  for (int i = 0; i < ranks; ++i) to[i] = rank || i ? most + i : 0;
  if (rank) counts[rank] = other_counts[rank] = 0;
  faults += MPI_Alltoallv(sent, counts, from, MPI_INT, sent, other_counts, to, MPI_INT, comm);
  for (int i = 0; i < ranks; ++i) faults += i != rank && sent[most + i] != call * 1000 + i * 10 + rank;
}

static void no_blocks(int call, MPI_Comm comm) {
  int got[most];
  fill(call);
  for (int i = 0; i < ranks; ++i) counts[i] = rank && i;
  const MPI_Datatype type = rank ? MPI_INT : uncommitted;
  const int code = MPI_Alltoallv(sent, counts, from, type, got, counts, to, type, comm);
  faults += (code == MPI_SUCCESS) != (rank > 0);
  if (rank) check(call, got, 1);
}

static void leaves(int call, MPI_Comm comm) {
  int got[most];
  MPI_Comm made;
  if (call < late) return;
  MPI_Comm_dup(comm, &made);
  for (int i = 1; i < calls_before_agreement + call % 10; ++i) exchange(i, made, 0);
  for (int i = 0; i < ranks; ++i) counts[i] = rank ? 0 : -1;
  const int code = MPI_Alltoallv(sent, counts, from, MPI_INT, got, counts, to, MPI_INT, made);
  faults += (code == MPI_SUCCESS) != (rank > 0);
  MPI_Comm_free(&made);
}

static const struct odd {
  const char* name;
  void (*make)(int call, MPI_Comm comm);
} odds[] = {{"empty", empty}, {"itself", itself}, {"one_buffer", one_buffer}, {"no_blocks", no_blocks}, {"leaves", leaves}};

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Type_contiguous(1, MPI_INT, &uncommitted);
  const int calls = atoi(argv[2]);
  for (size_t i = 0; i < sizeof odds / sizeof *odds; ++i) {
    if (strcmp(odds[i].name, argv[1])) continue;
    for (int call = 1; call <= calls; ++call) {
      if (call % 7 == 3) odds[i].make(call, MPI_COMM_WORLD);
      exchange(call, MPI_COMM_WORLD, 0);
      exchange(call, MPI_COMM_WORLD, 1);
    }
  }
  MPI_Type_free(&uncommitted);
  MPI_Allreduce(MPI_IN_PLACE, &faults, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("faults: %d\n", faults);
  MPI_Finalize();
  return faults > 0;
}
