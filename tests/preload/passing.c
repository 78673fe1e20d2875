/* Counts the calls that go from the preload to the MPI directly, past the drop-in library, and prints them for each kind
 * of calls. All data must be right. The program has the MPI's own functions, and looks who calls them. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { most = 64, calls = 10 };

static int rank, ranks, faults, passed, sent[most], got[most], counts[most], places[most];
static MPI_Datatype type;

static void* native(const char* name, void* caller) {
  Dl_info info;
  passed += dladdr(caller, &info) && strstr(info.dli_fname, "libshoal-preload.so");
  return dlsym(RTLD_NEXT, name);
}

#define CALLER __builtin_return_address(0)
int PMPI_Alltoall(const void* send, int sent_count, MPI_Datatype send_type, void* recv, int received,
                  MPI_Datatype recv_type, MPI_Comm comm) {
  int (*to)(const void*, int, MPI_Datatype, void*, int, MPI_Datatype, MPI_Comm) = native("PMPI_Alltoall", CALLER);
  return to(send, sent_count, send_type, recv, received, recv_type, comm);
}
#define SIZED(name)                                                                                              \
  int name(const void* send, const int* sizes, const int* at, MPI_Datatype send_type, void* recv,                \
           const int* recv_sizes, const int* recv_at, MPI_Datatype recv_type, MPI_Comm comm) {                   \
    int (*to)(const void*, const int*, const int*, MPI_Datatype, void*, const int*, const int*, MPI_Datatype,    \
              MPI_Comm) = native(#name, CALLER);                                                                 \
    return to(send, sizes, at, send_type, recv, recv_sizes, recv_at, recv_type, comm);                           \
  }
SIZED(PMPI_Alltoallv)
SIZED(PMPI_Neighbor_alltoallv)
/* The preload goes on to these, so the caller is the program, or the drop-in library. */
int PMPI_Allgatherv(const void* send, int sent_count, MPI_Datatype send_type, void* recv, const int* received,
                    const int* at, MPI_Datatype recv_type, MPI_Comm comm) {
  Dl_info info;
  passed += dladdr(CALLER, &info) && !strstr(info.dli_fname, "libshoal-drop-in.so");
  int (*to)(const void*, int, MPI_Datatype, void*, const int*, const int*, MPI_Datatype, MPI_Comm) =
      dlsym(RTLD_NEXT, "PMPI_Allgatherv");
  return to(send, sent_count, send_type, recv, received, at, recv_type, comm);
}
int PMPI_Allgather(const void* send, int sent_count, MPI_Datatype send_type, void* recv, int received,
                   MPI_Datatype recv_type, MPI_Comm comm) {
  Dl_info info;
  passed += dladdr(CALLER, &info) && !strstr(info.dli_fname, "libshoal-drop-in.so");
  int (*to)(const void*, int, MPI_Datatype, void*, int, MPI_Datatype, MPI_Comm) = dlsym(RTLD_NEXT, "PMPI_Allgather");
  return to(send, sent_count, send_type, recv, received, recv_type, comm);
}

static void equal(int call, MPI_Comm comm) { MPI_Alltoall(sent, 1, type, got, 1, type, comm); }
static void growing(int call, MPI_Comm comm) { MPI_Alltoall(sent, call % 2, type, got, call % 2, type, comm); }
static void in_place(int call, MPI_Comm comm) {
  for (int i = 0; i < ranks; ++i) got[i] = sent[i];
  MPI_Alltoall(call % 2 ? sent : MPI_IN_PLACE, 1, type, got, 1, type, comm);
}
static void sized(int call, MPI_Comm comm) {
  MPI_Alltoallv(sent, counts, places, type, got, counts, places, type, comm);
}
/* In each call another rank is refused, and calls again. Others wait for it. */
static void refused(int call, MPI_Comm comm) {
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  counts[0] = call % ranks == rank ? -1 : 1;
  if (counts[0] < 0 && MPI_Alltoallv(sent, counts, places, type, got, counts, places, type, comm) == MPI_SUCCESS)
    ++faults;
  counts[0] = 1;
  sized(call, comm);
}
static void among_neighbors(int call, MPI_Comm comm) {
  MPI_Neighbor_alltoallv(sent, counts, places, type, got, counts, places, type, comm);
}

static int ranks_of_other_group(MPI_Comm comm) {
  int senders;
  MPI_Comm_remote_size(comm, &senders);
  return senders;
}

static void gathered(int call, MPI_Comm comm) {
  int all[most];
  MPI_Allgatherv(&call, 1, type, all, counts, places, type, comm);
  for (int i = 0; i < ranks_of_other_group(comm); ++i) faults += all[i] != call;
  for (int i = 0; i < ranks; ++i) got[i] = call * 1000 + i * 10 + rank;
}
/* In each call another rank is refused, and calls again. */
static void refused_between_groups(int call, MPI_Comm comm) {
  int all[most];
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  if (call % ranks == rank && MPI_Allgatherv(&call, -1, type, all, counts, places, type, comm) == MPI_SUCCESS) ++faults;
  gathered(call, comm);
}

static void allgather(int call, MPI_Comm comm) {
  int senders, is_between_two, all[most];
  MPI_Comm_test_inter(comm, &is_between_two);
  is_between_two ? (senders = ranks_of_other_group(comm)) : MPI_Comm_size(comm, &senders);
  MPI_Allgather(&call, 1, type, all, 1, type, comm);
  for (int i = 0; i < senders; ++i) faults += all[i] != call;
  for (int i = 0; i < ranks; ++i) got[i] = call * 1000 + i * 10 + rank;
}

static void check(const char* what, int call, int is_empty) {
  for (int i = 0; i < ranks; ++i)
    if (got[i] != (is_empty ? -1 : call * 1000 + i * 10 + rank)) {
      printf("rank %d, %s, call %d: wrong data\n", rank, what, call);
      ++faults;
    }
}

static void count(const char* what, void (*exchange)(int call, MPI_Comm comm), MPI_Comm comm) {
  passed = 0;
  for (int call = 0; call < calls; ++call) {
    for (int i = 0; i < ranks; ++i) sent[i] = call * 1000 + rank * 10 + i, got[i] = -1;
    exchange(call, comm);
    check(what, call, exchange == growing && call % 2 == 0);
  }
  if (rank == 0) printf("%s: %d of %d\n", what, passed, calls);
}

/* The communicator is new, so that its first calls only have to be counted. */
static void count_on_new(const char* what, void (*exchange)(int call, MPI_Comm comm)) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  count(what, exchange, comm);
  MPI_Comm_free(&comm);
}

static void count_among_neighbors(void) {
  MPI_Comm comm;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, ranks, places, counts, ranks, places, counts, MPI_INFO_NULL, 0,
                                 &comm);
  for (int call = 0; call < 60; ++call) among_neighbors(call, comm);
  count("among neighbors", among_neighbors, comm);
  MPI_Comm_free(&comm);
}

/* The first rank is a group of its own. */
static void count_between_two_groups(const char* what, void (*exchange)(int call, MPI_Comm comm)) {
  MPI_Comm own, comm;
  MPI_Comm_split(MPI_COMM_WORLD, rank > 0, rank, &own);
  MPI_Intercomm_create(own, 0, MPI_COMM_WORLD, rank == 0, 0, &comm);
  count(what, exchange, comm);
  MPI_Comm_free(&comm);
  MPI_Comm_free(&own);
}

static void handle(MPI_Comm* comm, int* code, ...) {}

int main(int argc, char** argv) {
  MPI_Errhandler handler;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int i = 0; i < ranks; ++i) counts[i] = 1, places[i] = i;
  type = MPI_INT;
  count_on_new("equal", equal);
  count_on_new("growing", growing);
  count_on_new("in place", in_place);
  count_on_new("sized", sized);
  count_on_new("refused", refused);
  count_among_neighbors();
  count_on_new("allgather in one group", allgather);
  count_between_two_groups("allgather between two groups", allgather);
  count_between_two_groups("allgatherv between two groups", gathered);
  count_between_two_groups("refused between two groups", refused_between_groups);
  MPI_Type_contiguous(1, MPI_INT, &type);
  MPI_Type_commit(&type);
  count_on_new("own type", equal);
  count_between_two_groups("own type between two groups", allgather);
  type = MPI_INT;
  MPI_Comm_create_errhandler(handle, &handler);
  count_on_new("with error handlers", equal);
  count_on_new("allgather with error handlers", allgather);
  MPI_Finalize();
  return faults != 0;
}
