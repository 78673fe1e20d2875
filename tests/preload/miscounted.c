/* Calls MPI_Alltoall often enough for Shoal to serve it. Then the last rank alone gives a wrong count of what it sends
 * or receives, and right calls follow. Prints for each wrong call the class of the error on every rank, 0 for none, and
 * at the end the number of faults in right calls. */
#include <mpi.h>
#include <stdio.h>

enum { count = 12, most = 8, calls = 400 };

static int rank, ranks, faults, sent[most * 2 * count], got[most * 2 * count];

static int call(int send_count, int recv_count) {
  return MPI_Alltoall(sent, send_count, MPI_INT, got, recv_count, MPI_INT, MPI_COMM_WORLD);
}

static void right(int times) {
  for (int n = 0; n < times; ++n) {
    for (int i = 0; i < ranks * count; ++i) sent[i] = (rank * ranks + i / count) * 1000 + n, got[i] = -1;
    faults += call(count, count) != MPI_SUCCESS;
    for (int i = 0; i < ranks * count; ++i) faults += got[i] != (i / count * ranks + rank) * 1000 + n;
  }
}

static void wrong(const char *what, int send_count, int recv_count) {
  int class, classes[most];
  const int is_wrong = rank == ranks - 1;
  MPI_Error_class(call(is_wrong ? send_count : count, is_wrong ? recv_count : count), &class);
  right(20);
  MPI_Gather(&class, 1, MPI_INT, classes, 1, MPI_INT, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%s:", what);
  for (int i = 0; rank == 0 && i < ranks; ++i) printf(" %d%s", classes[i], i == ranks - 1 ? "\n" : "");
}

int main(int argc, char **argv) {
  int all = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  right(calls);
  wrong("receives too little", count, count / 3);
  wrong("sends too much", 2 * count, count);
  wrong("receives more", count, 2 * count);
  wrong("sends less", count / 3, count);
  MPI_Reduce(&faults, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("faults: %d\n", all);
  MPI_Finalize();
  return faults > 0;
}
