// lagging COMMUNICATORS CALLS LAG...: in every call each rank sends to the next one alone, and stays as many calls
// behind the rank before it as LAG says, one number for each rank but the first. MPICH allows that. Then all ranks agree
// on a sum by a nonblocking collective, which must not meet anything else on the communicator.
#include <mpi.h>
#include <stdlib.h>

enum { most_ranks = 8, token = 1 };

static int rank, ranks;

static void exchange(MPI_Comm comm, int call) {
  int out[most_ranks], in[most_ranks], sent[most_ranks] = {0}, received[most_ranks] = {0}, places[most_ranks];
  for (int i = 0; i < ranks; ++i) places[i] = i, out[i] = rank + call, in[i] = -1;
  if (rank + 1 < ranks) sent[rank + 1] = 1;
  if (rank > 0) received[rank - 1] = 1;
  MPI_Alltoallv(out, sent, places, MPI_INT, in, received, places, MPI_INT, comm);
  for (int i = 0; i < ranks; ++i)
    if (in[i] != (received[i] ? i + call : -1)) MPI_Abort(MPI_COMM_WORLD, 1);
}

static void wait_for_rank_before(void) {
  if (rank > 0) MPI_Recv(NULL, 0, MPI_INT, rank - 1, token, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void let_next_rank_go(void) {
  if (rank + 1 < ranks) MPI_Send(NULL, 0, MPI_INT, rank + 1, token, MPI_COMM_WORLD);
}

static void add_up(MPI_Comm comm) {
  MPI_Request request;
  int sum = 0;
  MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (sum != ranks * (ranks - 1) / 2) MPI_Abort(MPI_COMM_WORLD, 2);
}

static void exchange_on(MPI_Comm comm, int calls, int lag) {
  for (int call = 0; call < calls; ++call) {
    wait_for_rank_before();
    exchange(comm, call);
    if (call >= lag) let_next_rank_go();
  }
  for (int i = 0; i < lag; ++i) let_next_rank_go();
  add_up(comm);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int communicators = atoi(argv[1]), calls = atoi(argv[2]), lag = rank + 1 < ranks ? atoi(argv[3 + rank]) : 0;
  for (int i = 0; i < communicators; ++i) {
    MPI_Comm own;
    MPI_Comm_dup(MPI_COMM_WORLD, &own);
    exchange_on(own, calls, lag);
    MPI_Comm_free(&own);
  }
  MPI_Finalize();
  return 0;
}
