/* A rank gives arguments that are wrong, or look wrong, in exchanges in which no rank waits for it. The others must go
 * on, and all later exchanges must be right.
 *
 * Arguments: the number of calls before the wrong ones, and after them; then "told" if the other ranks get an error too;
 * then "later" to make wrong nonblocking calls too, after which Open MPI's own nonblocking calls no longer match, and of
 * which no other rank is told. Rank 3 of 4 is the lone one: it exchanges nothing while its arguments are wrong. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { most = 16 };

static int rank, ranks, faults, are_told, sent[most], got[most], counts[most], places[most];

static int is_lone(int one) { return one == 3; }

static int exchange_later(MPI_Comm comm) {
  MPI_Request request;
  const int code = MPI_Ialltoallv(sent, counts, places, MPI_INT, got, counts, places, MPI_INT, comm, &request);
  return code == MPI_SUCCESS ? MPI_Wait(&request, MPI_STATUS_IGNORE) : code;
}

/* Exchanges one number between all ranks but the lone one or, with `with_all`, between all ranks. */
static int exchange(int call, int with_all, int own_count, int is_later, MPI_Comm comm) {
  for (int i = 0; i < ranks; ++i) {
    counts[i] = with_all || !(is_lone(i) || is_lone(rank));
    places[i] = i;
    sent[i] = call * 1000 + rank * 10 + i;
    got[i] = -1;
  }
  if (own_count < 0) counts[rank] = own_count;
  const int code = is_later ? exchange_later(comm)
                            : MPI_Alltoallv(sent, counts, places, MPI_INT, got, counts, places, MPI_INT, comm);
  for (int i = 0; i < ranks && own_count >= 0; ++i)
    if (code || got[i] != (counts[i] ? call * 1000 + i * 10 + rank : -1)) ++faults;
  return code;
}

static void among_all(int calls, int wrong_calls, int is_later) {
  for (int call = 0; call < calls; ++call) exchange(call, call % 3 == 0, 0, 0, MPI_COMM_WORLD);
  for (int call = 0; call < wrong_calls; ++call) {
    const int before = faults, code = exchange(0, 0, is_lone(rank) ? -1 : 0, is_later, MPI_COMM_WORLD);
    if (are_told) faults = before;
    if ((is_lone(rank) || are_told) && code == MPI_SUCCESS) ++faults;
  }
  for (int call = 0; call < calls; ++call) exchange(call, call % 2, 0, 0, MPI_COMM_WORLD);
}

/* A ring of the others; the lone rank has no neighbours. */
static void in_a_ring(int calls) {
  const int others = ranks - 1, edges = is_lone(rank) ? 0 : 2;
  int peers[2] = {(rank + others - 1) % others, (rank + 1) % others}, ones[2] = {1, 1};
  MPI_Comm ring;
  MPI_Datatype uncommitted;
  MPI_Type_contiguous(1, MPI_INT, &uncommitted);
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, edges, peers, ones, edges, peers, ones, MPI_INFO_NULL, 0, &ring);
  MPI_Comm_set_errhandler(ring, MPI_ERRORS_RETURN);
  for (int call = 0; call < 2 * calls; ++call) {
    for (int i = 0; i < 2; ++i) sent[i] = call * 1000 + rank * 10, got[i] = -1;
    const int is_wrong = is_lone(rank) && call == calls;
    const int code = MPI_Neighbor_alltoall(sent, 1, is_wrong ? uncommitted : MPI_INT, got, 1, MPI_INT, ring);
    for (int i = 0; i < edges; ++i)
      if (are_told && call == calls ? !code : code || got[i] != call * 1000 + peers[i] * 10) ++faults;
  }
  MPI_Type_free(&uncommitted);
  MPI_Comm_free(&ring);
}

/* Blocks at absolute addresses. The ends of the line have no neighbour on one side, and give the address 0 there. */
static void in_a_line(int calls) {
  int peers[2], ones[2] = {1, 1}, size[1] = {ranks}, open[1] = {0};
  MPI_Datatype types[2] = {MPI_INT, MPI_INT};
  MPI_Aint from[2] = {0, 0}, to[2] = {0, 0};
  MPI_Comm line;
  MPI_Cart_create(MPI_COMM_WORLD, 1, size, open, 0, &line);
  MPI_Comm_set_errhandler(line, MPI_ERRORS_RETURN);
  MPI_Cart_shift(line, 0, 1, &peers[0], &peers[1]);
  for (int i = 0; i < 2; ++i)
    if (peers[i] != MPI_PROC_NULL) MPI_Get_address(&sent[i], &from[i]), MPI_Get_address(&got[i], &to[i]);
  for (int call = 0; call < calls; ++call) {
    for (int i = 0; i < 2; ++i) sent[i] = call * 1000 + rank * 10, got[i] = -1;
    const int code = MPI_Neighbor_alltoallw(MPI_BOTTOM, ones, from, types, MPI_BOTTOM, ones, to, types, line);
    for (int i = 0; i < 2; ++i)
      if (code || got[i] != (peers[i] == MPI_PROC_NULL ? -1 : call * 1000 + peers[i] * 10)) ++faults;
  }
  MPI_Comm_free(&line);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const int calls = argc > 1 ? atoi(argv[1]) : 10, are_later = argc > 2 && !strcmp(argv[argc - 1], "later");
  const int told = are_told = argc - are_later > 2;
  among_all(calls, 1, 0);
  among_all(calls, 3, 0);
  are_told = 0;
  if (are_later) among_all(calls, 2, 1);
  are_told = told;
  in_a_ring(calls);
  in_a_line(calls);
  MPI_Allreduce(MPI_IN_PLACE, &faults, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("faults: %d\n", faults);
  MPI_Finalize();
  return faults > 0;
}
