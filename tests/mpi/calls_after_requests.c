/* Calls of shoal.h that nobody wants served pass. What shoal_comm_explain() says after them is about them, and not about a
 * request that was between them. The program has one thread, because only then most calls pass. */
#include <mpi.h>
#include <shoal/shoal.h>
#include <stdio.h>
#include <string.h>

enum { most = 8 };

static int sent[most], got[most], faults;

static void exchange(int calls) {
  while (calls-- > 0) shoal_alltoall(sent, 1, MPI_INT, got, 1, MPI_INT, MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
  char text[512] = "";
  MPI_Info info;
  shoal_request request;
  MPI_Init(&argc, &argv);
  MPI_Info_create(&info);
  MPI_Info_set(info, "shoal_alltoall", "tuna:radix=2");
  shoal_alltoall_init(sent, 1, MPI_INT, got, 1, MPI_INT, MPI_COMM_WORLD, info, &request);
  for (int calls = 1; calls < 12; ++calls) {
    exchange(calls);
    shoal_start(request);
    shoal_wait(&request);
    exchange(2);
    shoal_comm_explain(MPI_COMM_WORLD, text, sizeof text);
    if (strstr(text, "tuna")) ++faults;
  }
  shoal_request_free(&request);
  MPI_Info_free(&info);
  MPI_Finalize();
  if (faults) fprintf(stderr, "%s\n", text);
  return faults > 0;
}
