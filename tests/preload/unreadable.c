/* Exchanges blocks of 80 KB. Every second read of another process's memory fails with ERRNO: unreadable ERRNO. */
#define _GNU_SOURCE
#include <errno.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { elements = 20000 };
static int why, refused;

ssize_t process_vm_readv(pid_t pid, const struct iovec* to, unsigned long n, const struct iovec* from, unsigned long m,
                         unsigned long flags) {
  static int looks;
  const int is_data = to->iov_len > sizeof(long);
  if (!is_data || ++looks % 2 == 0) return syscall(SYS_process_vm_readv, pid, to, n, from, m, flags);
  ++refused;
  return errno = why, -1;
}

int main(int argc, char** argv) {
  int rank, ranks, wrong = 0, failed = 0, length;
  char text[MPI_MAX_ERROR_STRING];
  why = atoi(argv[1]);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  int *sent = malloc(sizeof(int) * ranks * elements), *got = malloc(sizeof(int) * ranks * elements);
  for (int call = 0; call < 6; ++call) {
    for (int i = 0; i < ranks * elements; ++i) sent[i] = rank * 100 + call, got[i] = -1;
    const int code = MPI_Alltoall(sent, elements, MPI_INT, got, elements, MPI_INT, MPI_COMM_WORLD);
    if (code) MPI_Error_string(code, text, &length), ++failed;
    for (int i = 0; !code && i < ranks * elements; ++i) wrong += got[i] != i / elements * 100 + call;
  }
  printf("wrong: %d, refused: %s, failed: %s\n", wrong, refused ? "some" : "none", failed ? text : "none");
  MPI_Finalize();
  free(sent);
  free(got);
  return 0;
}
