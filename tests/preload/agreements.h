/* Tells a test program when the ranks begin an agreement of Shoal's. They agree by PMPI_Iallreduce. All libraries of
 * the process find the function of this file before the MPI's. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>

/* For the program to define. If it does not return MPI_SUCCESS, the agreement fails with that error. */
static int begin_agreement(MPI_Comm comm);

int PMPI_Iallreduce(const void *sent, void *got, int count, MPI_Datatype type, MPI_Op how, MPI_Comm comm, MPI_Request *request) {
  int (*reduce)(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm, MPI_Request *) = dlsym(RTLD_NEXT, "PMPI_Iallreduce");
  const int error = begin_agreement(comm);
  return error == MPI_SUCCESS ? reduce(sent, got, count, type, how, comm, request) : error;
}
