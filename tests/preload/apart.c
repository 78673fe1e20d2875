// apart PROGRAM: two ranks spawn two others, to which the launcher may have given no preload, and exchange with them.
// `apart` alone exchanges among four ranks, some of which may have no preload. `apart connect`: two of four ranks
// accept a connection from the other two. If Shoal agreed on anything there, its messages would meet the program's own
// collectives.
#include <mpi.h>
#include <stdio.h>
#include <string.h>

// Blocks of 2 KiB: ranks vote after 96 such calls.
enum { most_ranks = 4, block = 512, calls = 130 };

static int ranks_of(MPI_Comm comm) {
  int ranks, between;
  MPI_Comm_test_inter(comm, &between);
  if (between) MPI_Comm_remote_size(comm, &ranks);
  else MPI_Comm_size(comm, &ranks);
  return ranks;
}

// Each rank sends `number` to all ranks. It must receive `first` from the first rank, `first` + 1 from the second, ...
static void exchange(MPI_Comm comm, int number, int first) {
  int out[most_ranks * block], in[most_ranks * block];
  for (int i = 0; i < ranks_of(comm) * block; ++i) out[i] = number;
  MPI_Alltoall(out, block, MPI_INT, in, block, MPI_INT, comm);
  for (int i = 0; i < ranks_of(comm) * block; ++i)
    if (in[i] != first + i / block) MPI_Abort(MPI_COMM_WORLD, 1);
}

// Like exchange(), by MPI_Allgather between two groups.
static void gather(MPI_Comm between, int number, int first) {
  int in[most_ranks];
  MPI_Allgather(&number, 1, MPI_INT, in, 1, MPI_INT, between);
  for (int i = 0; i < ranks_of(between); ++i)
    if (in[i] != first + i) MPI_Abort(MPI_COMM_WORLD, 3);
}

// MPI_Comm_split, for which MPIs use nonblocking collectives, and a nonblocking collective of the program's own.
static void collectives(MPI_Comm all, int rank) {
  MPI_Comm copy;
  MPI_Request request;
  int sum;
  MPI_Comm_split(all, 0, rank, &copy);
  exchange(copy, rank, 0);
  MPI_Comm_free(&copy);
  MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, all, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (sum != 6) MPI_Abort(MPI_COMM_WORLD, 2);
}

static void exchange_among(MPI_Comm all) {
  int place;
  MPI_Comm_rank(all, &place);
  for (int i = 0; i < calls; ++i) {
    exchange(all, place, 0);
    if (i % 10 == 0) collectives(all, place);
  }
}

// Connects ranks 0 and 1 with ranks 2 and 3. Returns whether this rank is one of the latter two.
static int connect_to_others(MPI_Comm* own, MPI_Comm* between) {
  char port[MPI_MAX_PORT_NAME] = "";
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) MPI_Open_port(MPI_INFO_NULL, port);
  MPI_Bcast(port, sizeof port, MPI_CHAR, 0, MPI_COMM_WORLD);
  MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, own);
  if (rank < 2) MPI_Comm_accept(port, MPI_INFO_NULL, 0, *own, between);
  else MPI_Comm_connect(port, MPI_INFO_NULL, 0, *own, between);
  return rank >= 2;
}

static void exchange_with_others(MPI_Comm between, int rank, int second) {
  MPI_Comm all;
  for (int i = 0; i < calls; ++i) {
    exchange(between, 100 * second + rank, 100 * !second);
    gather(between, 100 * second + rank, 100 * !second);
  }
  MPI_Intercomm_merge(between, second, &all);
  exchange_among(all);
  MPI_Comm_free(&all);
  MPI_Comm_disconnect(&between);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm between, own = MPI_COMM_WORLD;
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_get_parent(&between);
  int second = between != MPI_COMM_NULL;
  const int is_first = !second && rank == 0;
  if (!second && argc == 1) {
    exchange_among(MPI_COMM_WORLD);
    if (rank == 0) printf("right\n");
    MPI_Finalize();
    return 0;
  }
  if (argc > 1 && !strcmp(argv[1], "connect")) second = connect_to_others(&own, &between);
  else if (!second) MPI_Comm_spawn(argv[1], MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, own, &between, MPI_ERRCODES_IGNORE);
  MPI_Comm_rank(own, &rank);
  exchange_with_others(between, rank, second);
  if (own != MPI_COMM_WORLD) MPI_Comm_free(&own);
  if (is_first) printf("right\n");
  MPI_Finalize();
  return 0;
}
