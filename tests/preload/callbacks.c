/* Exchanges inside the functions that MPI calls for attributes: callbacks CASE BEFORE EXCHANGES AFTER. A communicator
 * gets BEFORE attributes, makes EXCHANGES exchanges, and gets AFTER more attributes. The functions of each attribute
 * exchange on it too. CASE: free, disconnect or copy; or self or world, whose attributes MPI_Finalize deletes. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int faults, in_functions;

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

static int on_delete(MPI_Comm comm, int key, void* value, void* extra) {
  (void)key, (void)value, (void)extra;
  ++in_functions;
  return exchange(comm), MPI_SUCCESS;
}

static int on_copy(MPI_Comm comm, int key, void* extra, void* value, void* out, int* keep) {
  *(void**)out = value;
  *keep = 1;
  return on_delete(comm, key, value, extra);
}

static void prepare(MPI_Comm comm, char** numbers) {
  for (int i = 0; i < atoi(numbers[0]) + atoi(numbers[2]); ++i) {
    int key;
    for (int k = 0; i == atoi(numbers[0]) && k < atoi(numbers[1]); ++k) exchange(comm);
    MPI_Comm_create_keyval(on_copy, on_delete, &key, NULL);
    MPI_Comm_set_attr(comm, key, &faults);
  }
}

/* Frees a communicator with attributes, then exchanges on a new one, which may get the number of the freed one. */
static void free_after(const char* what, char** numbers) {
  MPI_Comm own, next;
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &own);
  prepare(own, numbers);
  if (!strcmp(what, "copy")) {
    MPI_Comm_dup(own, &next);
    exchange(next);
    MPI_Comm_free(&next);
    exchange(own);
  }
  strcmp(what, "disconnect") ? MPI_Comm_free(&own) : MPI_Comm_disconnect(&own);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &next);
  for (int k = 0; k < 3; ++k) exchange(next);
  MPI_Comm_free(&next);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (!strcmp(argv[1], "self") || !strcmp(argv[1], "world"))
    prepare(strcmp(argv[1], "self") ? MPI_COMM_WORLD : MPI_COMM_SELF, argv + 2);
  else
    for (int k = 0; k < 3; ++k) free_after(argv[1], argv + 2);
  MPI_Finalize();
  printf("faults: %d, exchanges in functions: %d\n", faults, in_functions);
  return faults > 0;
}
