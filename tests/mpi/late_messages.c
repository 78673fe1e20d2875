/* Is preloaded before an MPI, and makes it as slow as an MPI may be. Nonblocking sends leave late, small messages
 * (sizes) latest of all, and some leave after messages that were sent later to other places. The MPI says late, and
 * in any order, that transfers have ended, also if requests are only looked at (MPICH). One rank hardly ever gets
 * on. A late send is made as a persistent one, and started in a later test. At the end, rank 0 prints how often all
 * this happened. There are few tags, so they come round again and again. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

enum { MOST = 1024 };
struct held {
  MPI_Request request;
  MPI_Comm comm;
  int peer, tag, tests_left;
};
static struct held held[MOST];
static MPI_Request started[MOST]; /* late sends that were started and have not ended yet */
static int count, in_flight, late, overtaken, silent;

static unsigned any(unsigned below) { /* the same in every run */
  static unsigned state;
  int rank;
  if (!state) {
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    state = (unsigned)rank + 1;
  }
  state = state * 1664525u + 1013904223u;
  return (state >> 8) % below;
}

static int is_slowest(void) {
  int rank, ranks;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
  return rank == ranks / 2;
}

static int same_way(const struct held *one, int peer, int tag, MPI_Comm comm) {
  return one->peer == peer && one->tag == tag && one->comm == comm;
}

int PMPI_Isend(const void *data, int size, MPI_Datatype type, int peer, int tag, MPI_Comm comm, MPI_Request *request) {
  int behind = 0; /* messages that go the same way may not overtake each other */
  for (int i = 0; i < count; ++i) behind = behind || same_way(&held[i], peer, tag, comm);
  if (!behind && (any(2) || count == MOST)) return REAL(PMPI_Isend)(data, size, type, peer, tag, comm, request);
  const int code = PMPI_Send_init(data, size, type, peer, tag, comm, request);
  const struct held one = {*request, comm, peer, tag, (int)any(size <= 64 ? 20 : 5)};
  held[count++] = one;
  ++late;
  return code;
}

/* For each message whose time has come, starts the first of those that go the same way. */
static void start_late_ones(void) {
  for (int i = 0; i < count; ++i) {
    if (held[i].tests_left-- > 0) continue;
    int first = 0;
    while (!same_way(&held[first], held[i].peer, held[i].tag, held[i].comm)) ++first;
    overtaken += first > 0;
    PMPI_Start(&held[first].request);
    started[in_flight++] = held[first].request;
    for (int k = first; k + 1 < count; ++k) held[k] = held[k + 1];
    --count;
    --i;
  }
}

static void free_late_one(MPI_Request *request) {
  for (int i = 0; i < in_flight; ++i) {
    if (started[i] != *request) continue;
    started[i] = started[--in_flight];
    PMPI_Request_free(request);
  }
}

static int is_silent(void) {
  const int silence = any(is_slowest() ? 12 : 3) != 0;
  silent += silence;
  return silence;
}

#ifndef OPEN_MPI
/* A message that is still held has not begun. */
static int may_have_ended(MPI_Request request) {
  for (int i = 0; i < count; ++i)
    if (held[i].request == request) return 0;
  return !is_silent();
}

int PMPIX_Request_is_complete(MPI_Request request) {
  return may_have_ended(request) && REAL(PMPIX_Request_is_complete)(request);
}

int PMPI_Test(MPI_Request *request, int *ended, MPI_Status *status) {
  start_late_ones();
  *ended = 0;
  if (!may_have_ended(*request)) return MPI_SUCCESS;
  const int code = REAL(PMPI_Test)(request, ended, status);
  if (*ended) free_late_one(request);
  return code;
}

int PMPI_Wait(MPI_Request *request, MPI_Status *status) {
  const int code = REAL(PMPI_Wait)(request, status);
  free_late_one(request);
  return code;
}
#endif

int PMPI_Testsome(int n, MPI_Request requests[], int *ended, int indices[], MPI_Status statuses[]) {
  start_late_ones();
  *ended = 0;
  if (is_silent()) return MPI_SUCCESS;
  const int begin = n > 1 && any(2) ? (int)any((unsigned)n) : 0;
  const int code = REAL(PMPI_Testsome)(n - begin, requests + begin, ended, indices, statuses);
  if (*ended == MPI_UNDEFINED) *ended = 0;
  for (int i = 0; i < *ended; ++i) {
    indices[i] += begin;
    free_late_one(&requests[indices[i]]);
  }
  for (int i = *ended - 1; i > 0; --i) {
    const int other = (int)any((unsigned)i + 1), swapped = indices[i];
    indices[i] = indices[other];
    indices[other] = swapped;
    if (statuses == MPI_STATUSES_IGNORE) continue;
    const MPI_Status moved = statuses[i];
    statuses[i] = statuses[other];
    statuses[other] = moved;
  }
  return code;
}

int PMPI_Comm_get_attr(MPI_Comm comm, int key, void *value, int *found) {
  static int few = 63;
  const int code = REAL(PMPI_Comm_get_attr)(comm, key, value, found);
  if (key == MPI_TAG_UB && *found) *(int **)value = &few;
  return code;
}

int MPI_Finalize(void) {
  int mine[] = {late, overtaken, silent, count}, all[4], rank;
  PMPI_Reduce(mine, all, 4, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) fprintf(stderr, "late %d overtaken %d silent %d left %d\n", all[0], all[1], all[2], all[3]);
  return PMPI_Finalize();
}
