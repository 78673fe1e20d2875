/* Calls MPI_Allgather and MPI_Allgatherv on what is no communicator. Prints the number of faults. */
#include <mpi.h>
#include <stdio.h>

static int is_refused(int code) {
  int of_class = MPI_SUCCESS;
  MPI_Error_class(code, &of_class);
  return of_class == MPI_ERR_COMM;
}

int main(int argc, char** argv) {
  int sent = 1, got = 0, faults = 0;
  const int count = 1, place = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Alltoall(&sent, 1, MPI_INT, &got, 1, MPI_INT, MPI_COMM_SELF);
  const MPI_Comm none = (MPI_Comm)0x123;
  faults += !is_refused(MPI_Allgather(&sent, 1, MPI_INT, &got, 1, MPI_INT, none));
  faults += !is_refused(MPI_Allgatherv(&sent, 1, MPI_INT, &got, &count, &place, MPI_INT, none));
  MPI_Finalize();
  printf("faults: %d\n", faults);
  return faults;
}
