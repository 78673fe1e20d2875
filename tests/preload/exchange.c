/* Exchanges with every element checked: exchange [communicator].
 *
 * communicator: world (default), halves (odd and even ranks apart, nothing on the world), odd (only the odd ranks),
 * self, inter (between the halves), many (600 communicators, never freed), large (world, with long equal blocks). Makes
 * 3 calls of MPI_Alltoall and 2 of MPI_Alltoallv on each communicator. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int block = 3; /* elements of a block, if all blocks are equal */
static int faults, from, to, peers; /* this rank as a sender, as a receiver, and how many ranks it exchanges with */

static int value(int sender, int receiver, int element) { return (sender * 1000 + receiver) * 100 + element; }

static void expect(int good) { faults += !good; }

static void fill_equal(int *buffer) {
  for (int i = 0; i < peers; ++i)
    for (int k = 0; k < block; ++k) buffer[i * block + k] = value(from, i, k);
}

static void check_equal(const int *buffer) {
  for (int i = 0; i < peers; ++i)
    for (int k = 0; k < block; ++k) expect(buffer[i * block + k] == value(i, to, k));
}

static void equal_blocks(MPI_Comm comm, int in_place) {
  int *sent = malloc(sizeof(int) * block * peers), *got = malloc(sizeof(int) * block * peers);
  fill_equal(in_place ? got : sent);
  if (in_place) MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, got, block, MPI_INT, comm);
  else MPI_Alltoall(sent, block, MPI_INT, got, block, MPI_INT, comm);
  check_equal(got);
  free(sent);
  free(got);
}

static MPI_Datatype at_address(const int *buffer) {
  MPI_Aint address;
  const int count = block;
  MPI_Datatype far, near;
  MPI_Get_address(buffer, &address);
  MPI_Type_create_hindexed(1, &count, &address, MPI_INT, &far);
  MPI_Type_create_resized(far, 0, sizeof(int) * block, &near);
  MPI_Type_commit(&near);
  MPI_Type_free(&far);
  return near;
}

static void absolute_addresses(MPI_Comm comm) {
  int *sent = malloc(sizeof(int) * block * peers), *got = malloc(sizeof(int) * block * peers);
  fill_equal(sent);
  MPI_Datatype send_type = at_address(sent), recv_type = at_address(got);
  MPI_Alltoall(MPI_BOTTOM, 1, send_type, MPI_BOTTOM, 1, recv_type, comm);
  check_equal(got);
  MPI_Type_free(&send_type);
  MPI_Type_free(&recv_type);
  free(sent);
  free(got);
}

/* The size of a block in uneven_blocks(), in which many blocks are empty and each arrives behind a gap. */
static int elements(int sender, int receiver) { return (sender + 2 * receiver) % 4; }

static void uneven_blocks(MPI_Comm comm) {
  int *layout = calloc(4 * peers, sizeof(int)), *sent = calloc(4 * peers, sizeof(int)), *got = calloc(5 * peers, sizeof(int));
  int *send_counts = layout, *send_at = layout + peers, *recv_counts = layout + 2 * peers, *recv_at = layout + 3 * peers;
  for (int i = 0, sum = 0, gaps = 1; i < peers; ++i) {
    send_counts[i] = elements(from, i);
    recv_counts[i] = elements(i, to);
    send_at[i] = sum;
    recv_at[i] = gaps;
    for (int k = 0; k < send_counts[i]; ++k) sent[sum + k] = value(from, i, k);
    sum += send_counts[i];
    gaps += recv_counts[i] + 1;
  }
  MPI_Alltoallv(sent, send_counts, send_at, MPI_INT, got, recv_counts, recv_at, MPI_INT, comm);
  for (int i = 0; i < peers; ++i) {
    expect(got[recv_at[i] - 1] == 0);
    for (int k = 0; k < recv_counts[i]; ++k) expect(got[recv_at[i] + k] == value(i, to, k));
  }
  free(layout);
  free(sent);
  free(got);
}

static void exchange(MPI_Comm comm) {
  int inter;
  MPI_Comm_test_inter(comm, &inter);
  MPI_Comm_rank(comm, &from);
  to = from;
  if (inter) MPI_Comm_remote_size(comm, &peers);
  else MPI_Comm_size(comm, &peers);
  equal_blocks(comm, 0);
  equal_blocks(comm, !inter);
  absolute_addresses(comm);
  uneven_blocks(comm);
  uneven_blocks(comm);
}

static MPI_Comm half_of(int rank) {
  MPI_Comm half;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  return half;
}

static void halves(int rank) {
  MPI_Comm half = half_of(rank);
  exchange(half);
  MPI_Comm_free(&half);
}

// Only odd ranks exchange, so rank 0 of the world does not.
static void odd(int rank) {
  MPI_Comm half = half_of(rank);
  if (rank % 2) exchange(half);
  MPI_Comm_free(&half);
}

static void across(int rank) {
  MPI_Comm half = half_of(rank), both;
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 0, &both);
  exchange(both);
  MPI_Comm_free(&both);
  MPI_Comm_free(&half);
}

static void many(void) {
  for (int i = 0; i < 600; ++i) {
    MPI_Comm copy;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    exchange(copy);
  }
}

int main(int argc, char **argv) {
  const char *where = argc > 1 ? argv[1] : "world";
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (!strcmp(where, "large")) block = 30000;
  if (!strcmp(where, "halves")) halves(rank);
  else if (!strcmp(where, "odd")) odd(rank);
  else if (!strcmp(where, "self")) exchange(MPI_COMM_SELF);
  else if (!strcmp(where, "inter")) across(rank);
  else if (!strcmp(where, "many")) many();
  else exchange(MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, &faults, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("faults: %d\n", faults);
  MPI_Finalize();
  return faults > 0;
}
