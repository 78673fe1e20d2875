/* Prints whether Shoal refuses or ignores a wrong SHOAL_ALLTOALL in the environment: "refused" or "ignored". */
#include <mpi.h>
#include <shoal/shoal.h>
#include <stdio.h>

int main(int count, char **words) {
  int sent = 1, got = 0;
  MPI_Init(&count, &words);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const int code = shoal_alltoall(&sent, 1, MPI_INT, &got, 1, MPI_INT, MPI_COMM_WORLD);
  printf("%s\n", code == MPI_SUCCESS ? "ignored" : "refused");
  MPI_Finalize();
  return 0;
}
