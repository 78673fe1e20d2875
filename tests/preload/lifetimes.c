/* Communicators and calls at odd moments: lifetimes CASE. Every exchange is checked.
 *
 * early_callback, late_callback: an attribute callback of MPI_COMM_SELF exchanges in MPI_Finalize. MPI deletes its
 *   attribute before or after Shoal's own (the attribute that was set last is deleted first).
 * uneven_callback: the attribute is deleted before Shoal's own on rank 0, and after it on the other ranks.
 * never_freed: exchanges on copies of the world that are never freed.
 * freed_in_callback: exchanges on a copy that the callback frees.
 * reused: copies the world, exchanges and frees the copy, twenty times.
 * attribute: the communicator has an attribute of the program, whose callbacks must not be called before it is freed.
 * crowded: 600 communicators in turn, with 1 to 12 exchanges each; every second one is freed without the preload's
 *   knowledge and made again; then some make hundreds of exchanges.
 * early_freed: communicators that are freed after 8 to 110 exchanges; MPI_Comm_free deletes the attribute of each.
 * freed_before_late: a communicator that the others free while the last rank is 8 exchanges behind; not for an MPI
 *   whose MPI_Comm_free waits for other ranks (Intel MPI).
 * no_environment: clears the environment before the first exchange.
 * forks: no exchange; forks a process that ends at once, before MPI_Finalize and again after it.
 * session: no MPI_Init, only a session (MPI 4).
 * session_first: two ranks exchange in a session, then all call MPI_Init and exchange.
 * exits: no exchange; rank 1 ends with status 5, without MPI_Finalize. */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define SESSIONS (MPI_VERSION >= 4 || OMPI_MAJOR_VERSION >= 5)

static int faults, rank;
static MPI_Comm copy = MPI_COMM_NULL;

static void exchange(MPI_Comm comm) {
  int me, ranks;
  MPI_Comm_rank(comm, &me);
  MPI_Comm_size(comm, &ranks);
  int *sent = malloc(sizeof(int) * ranks), *got = malloc(sizeof(int) * ranks);
  for (int i = 0; i < ranks; ++i) sent[i] = me * ranks + i, got[i] = -1;
  MPI_Alltoall(sent, 1, MPI_INT, got, 1, MPI_INT, comm);
  for (int i = 0; i < ranks; ++i) faults += got[i] != i * ranks + me;
  free(sent);
  free(got);
}

static int in_finalize(MPI_Comm self, int key, void *value, void *extra) {
  (void)self, (void)key, (void)value, (void)extra;
  exchange(copy);
  if (value) MPI_Comm_free(&copy);
  printf("callback on rank %d, faults: %d\n", rank, faults);
  return MPI_SUCCESS;
}

static void set_callback(int frees) {
  int key;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, in_finalize, &key, NULL);
  MPI_Comm_set_attr(MPI_COMM_SELF, key, frees ? &copy : NULL);
}

static void copies(int count, int frees) {
  for (int i = 0; i < count; ++i) {
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    exchange(copy);
    if (frees) MPI_Comm_free(&copy);
  }
}

static int copied, deleted;

static int on_copy(MPI_Comm from, int key, void *extra, void *value, void *out, int *keep) {
  (void)from, (void)key, (void)extra;
  ++copied;
  *(void **)out = value;
  return *keep = 1, MPI_SUCCESS;
}

static int on_delete(MPI_Comm from, int key, void *value, void *extra) {
  (void)from, (void)key, (void)value, (void)extra;
  return ++deleted, MPI_SUCCESS;
}

static void attribute(int exchanges) {
  int key;
  copied = deleted = 0;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Comm_create_keyval(on_copy, on_delete, &key, NULL);
  MPI_Comm_set_attr(copy, key, &key);
  for (int i = 0; i < exchanges; ++i) exchange(copy);
  faults += copied + deleted;
  MPI_Comm_free(&copy);
  faults += copied != 0 || deleted != 1;
}

enum { crowd = 600 };
static MPI_Comm crowded_by[crowd];

static void in_turn(int step) {
  for (int call = 0; call < 12; ++call)
    for (int i = 0; i < crowd; i += step)
      if (call <= (i / step) % 12) exchange(crowded_by[i]);
}

static void crowded(void) {
  for (int i = 0; i < crowd; ++i) MPI_Comm_dup(MPI_COMM_WORLD, crowded_by + i);
  in_turn(1);
  for (int i = 1; i < crowd; i += 2) PMPI_Comm_free(crowded_by + i);
  for (int i = 1; i < crowd; i += 2) MPI_Comm_dup(MPI_COMM_WORLD, crowded_by + i);
  in_turn(5);
  for (int i = 0; i < crowd; i += 31)
    for (int call = 0; call < 300; ++call) exchange(crowded_by[i]);
  for (int i = 0; i < crowd; ++i) MPI_Comm_free(crowded_by + i);
}

/* All blocks are empty, so no rank waits for another. */
static void exchange_nothing(MPI_Comm comm) {
  int none[16] = {0}, sent[1], got[1];
  MPI_Alltoallv(sent, none, none, MPI_INT, got, none, none, MPI_INT, comm);
}

static void freed_before_late(void) {
  int ranks;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  for (int i = 0; i < 96; ++i) {
    if (i == 88 && rank == ranks - 1) MPI_Recv(NULL, 0, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    exchange_nothing(copy);
  }
  MPI_Comm_free(&copy);
  if (rank == 0) MPI_Send(NULL, 0, MPI_INT, ranks - 1, 0, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
}

#if SESSIONS
static void session(void) {
  MPI_Session session;
  MPI_Group all;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
  MPI_Group_from_session_pset(session, "mpi://WORLD", &all);
  MPI_Comm_create_from_group(all, "shoal", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &copy);
  exchange(copy);
  printf("session, faults: %d\n", faults);
  MPI_Comm_free(&copy);
  MPI_Group_free(&all);
  MPI_Session_finalize(&session);
}
#endif

#if SESSIONS
static void session_first(void) {
  MPI_Session session;
  MPI_Group all, some;
  const int two[] = {0, 1};
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
  MPI_Group_from_session_pset(session, "mpi://WORLD", &all);
  MPI_Group_incl(all, 2, two, &some);
  MPI_Group_rank(some, &rank);
  if (rank != MPI_UNDEFINED) {
    MPI_Comm_create_from_group(some, "shoal", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &copy);
    exchange(copy);
    MPI_Comm_free(&copy);
  }
  MPI_Init(NULL, NULL);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  exchange(MPI_COMM_WORLD);
  if (rank == 0) printf("faults: %d\n", faults);
  MPI_Finalize();
  MPI_Group_free(&some);
  MPI_Group_free(&all);
  MPI_Session_finalize(&session);
}
#endif

static void fork_one(void) {
  const pid_t child = fork();
  if (child == 0) exit(0);
  waitpid(child, NULL, 0);
}

static int forks(void) {
  fork_one();
  MPI_Finalize();
  fork_one();
  return 0;
}

int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "";
#if SESSIONS
  if (!strcmp(what, "session")) return session(), faults > 0;
  if (!strcmp(what, "session_first")) return session_first(), faults > 0;
#endif
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (!strcmp(what, "forks")) return forks();
  if (!strcmp(what, "exits") && rank == 1) exit(5);
  if (!strcmp(what, "no_environment")) clearenv();
  if (!strcmp(what, "reused")) {
    copies(20, 1);
  } else if (!strcmp(what, "attribute")) {
    attribute(1);
  } else if (!strcmp(what, "crowded")) {
    crowded();
  } else if (!strcmp(what, "freed_before_late")) {
    freed_before_late();
  } else if (!strcmp(what, "early_freed")) {
    for (int exchanges = 8; exchanges < 112; exchanges += 2) attribute(exchanges);
  } else if (!strcmp(what, "never_freed")) {
    copies(3, 0);
  } else {
    const int uneven = !strcmp(what, "uneven_callback");
    if (uneven && rank == 0) exchange(MPI_COMM_SELF);
    if (uneven || !strcmp(what, "late_callback")) set_callback(0);
    copies(1, 0);
    if (!strcmp(what, "early_callback")) set_callback(0);
    if (!strcmp(what, "freed_in_callback")) set_callback(1);
  }
  if (rank == 0) printf("faults: %d\n", faults);
  MPI_Finalize();
  return faults > 0;
}
