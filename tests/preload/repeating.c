/* Calls that mostly repeat the last one on their communicator. In between come other sizes, other forms, calls that one
 * rank gets wrong and repeats, and communicators that are freed. Then come exchanges that some ranks describe by a type
 * of their own, which they free at once, so that another type may get its handle. Prints the number of faults, which
 * counts ranks that did not agree in the same calls as rank 0, and the number of their agreements.
 *
 * Argument: the number of calls. */
#include "agreements.h"

#include <stdio.h>
#include <stdlib.h>

enum { most_ranks = 8, most_ints = 2 };

static int agreements, ranks, rank, faults, made;
static unsigned when;  /* the ranks agreed: a hash of the numbers of these calls */

static int begin_agreement(MPI_Comm comm) {
  (void)comm;
  ++agreements;
  when = when * 31 + made;
  return MPI_SUCCESS;
}

static void exchange(int call, MPI_Comm comm) {
  ++made;
  const int ints = call % 7 == 3 ? most_ints : 1, is_varying = call % 11 == 5;
  int sent[most_ranks * most_ints], got[most_ranks * most_ints], counts[most_ranks], starts[most_ranks];
  for (int peer = 0; peer < ranks; ++peer) {
    counts[peer] = ints;
    starts[peer] = peer * ints;
    for (int i = 0; i < ints; ++i) sent[starts[peer] + i] = call * 100 + rank * 10 + peer;
  }
  if (call % 13 == 7 && rank == 1) faults += MPI_Alltoall(sent, -1, MPI_INT, got, -1, MPI_INT, comm) == MPI_SUCCESS;
  if (is_varying) MPI_Alltoallv(sent, counts, starts, MPI_INT, got, counts, starts, MPI_INT, comm);
  else MPI_Alltoall(sent, ints, MPI_INT, got, ints, MPI_INT, comm);
  for (int peer = 0; peer < ranks; ++peer)
    for (int i = 0; i < ints; ++i) faults += got[starts[peer] + i] != call * 100 + peer * 10 + rank;
}

/* Exchanges blocks of `ints` integers. Every other rank describes a block as one element of a type of its own. */
static void exchange_typed(int ints, MPI_Comm comm) {
  int *const sent = calloc((size_t)ranks * ints, sizeof *sent), *const got = malloc((size_t)ranks * ints * sizeof *got);
  ++made;
  for (int peer = 0; peer < ranks; ++peer) sent[peer * ints] = rank * 10 + peer;
  if (rank % 2) {
    MPI_Datatype type;
    MPI_Type_contiguous(ints, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Alltoall(sent, 1, type, got, 1, type, comm);
    MPI_Type_free(&type);
  } else {
    MPI_Alltoall(sent, ints, MPI_INT, got, ints, MPI_INT, comm);
  }
  for (int peer = 0; peer < ranks; ++peer) faults += got[peer * ints] != peer * 10 + rank;
  free(sent), free(got);
}

static void exchange_typed_ones(int calls) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  for (int call = 0; call < calls; ++call) exchange_typed(call < calls / 2 ? 1 : 4000, comm);
  MPI_Comm_free(&comm);
}

int main(int argc, char **argv) {
  const int calls = argc > 1 ? atoi(argv[1]) : 1;
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm lasting, passing = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &lasting);
  MPI_Comm_set_errhandler(lasting, MPI_ERRORS_RETURN);
  for (int call = 0; call < calls; ++call) {
    exchange(call, lasting);
    if (call % 50 == 49) {
      MPI_Comm_dup(lasting, &passing);
      for (int i = 0; i < call % 20; ++i) exchange(i, passing);
      MPI_Comm_free(&passing);
    }
  }
  MPI_Comm_free(&lasting);
  exchange_typed_ones(2 * calls);
  unsigned of_first = when;
  MPI_Bcast(&of_first, 1, MPI_UNSIGNED, 0, MPI_COMM_WORLD);
  faults += when != of_first;
  int all_faults = 0;
  MPI_Reduce(&faults, &all_faults, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("faults %d, agreements %d\n", all_faults, agreements);
  MPI_Finalize();
  return 0;
}
