/* Rank 0 sends a message with MPI_Bsend before every exchange. The buffer has room for one message. That message has
 * arrived when the exchange ends, so the next one must find room: buffered CALLS BYTES */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  int rank, sent[16] = {0}, got[16], size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int calls = atoi(argv[1]), bytes = atoi(argv[2]), room = bytes + MPI_BSEND_OVERHEAD + 64;
  char *message = calloc(bytes, 1), *buffer = malloc(room);
  MPI_Buffer_attach(buffer, room);
  for (int call = 0; call < calls; ++call) {
    if (rank == 0) MPI_Bsend(message, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    if (rank == 1) MPI_Recv(message, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Alltoall(sent, 1, MPI_INT, got, 1, MPI_INT, MPI_COMM_WORLD);
  }
  MPI_Buffer_detach(&buffer, &size);
  if (rank == 0) printf("calls: %d\n", calls);
  MPI_Finalize();
  return 0;
}
