/* The algorithm that is named for nonblocking and persistent exchanges cannot serve these ranks, so the MPI does. Prints
 * how many of the requests that Shoal made for them are still there. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

static int requests;

/* All libraries of the process find these functions before the MPI's. Shoal's requests have no bytes. */
int PMPI_Irecv(void *to, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request *request) {
  int (*receive)(void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *) = dlsym(RTLD_NEXT, "PMPI_Irecv");
  requests += count == 0;
  return receive(to, count, type, source, tag, comm, request);
}
int PMPI_Recv_init(void *to, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request *request) {
  int (*prepare)(void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *) = dlsym(RTLD_NEXT, "PMPI_Recv_init");
  requests += count == 0;
  return prepare(to, count, type, source, tag, comm, request);
}
int PMPI_Isend(const void *from, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request) {
  int (*send)(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *) = dlsym(RTLD_NEXT, "PMPI_Isend");
  requests -= count == 0;
  return send(from, count, type, to, tag, comm, request);
}
int PMPI_Request_free(MPI_Request *request) {
  int (*release)(MPI_Request *) = dlsym(RTLD_NEXT, "PMPI_Request_free");
  if (requests > 0) --requests; /* of a persistent one; the message that ends another is freed when none is left */
  return release(request);
}

int main(int argc, char **argv) {
  enum { most = 16 };
  int sent[most] = {0}, got[most], rank;
  MPI_Request request;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Alltoall(sent, 1, MPI_INT, got, 1, MPI_INT, MPI_COMM_WORLD);
  for (int call = 0; call < 50; ++call) {
    MPI_Ialltoall(sent, 1, MPI_INT, got, 1, MPI_INT, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
#if MPI_VERSION >= 4
    MPI_Alltoall_init(sent, 1, MPI_INT, got, 1, MPI_INT, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
#endif
  }
  if (rank == 0) printf("requests left: %d\n", requests);
  MPI_Finalize();
  return 0;
}
