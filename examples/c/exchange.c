/* Every rank has items for other ranks, a different number for each. It tells them how many, then sends the items. */
#include <shoal/shoal.h>
#include <stdio.h>
#include <stdlib.h>

/* Finds where each block begins if the blocks lie one behind another. Returns the sum of the counts. */
static int lay_out(const int *counts, int *displacements, int ranks) {
  int sum = 0;
  for (int i = 0; i < ranks; ++i) {
    displacements[i] = sum;
    sum += counts[i];
  }
  return sum;
}

/* Asks for an algorithm on one communicator. Without this, Shoal chooses. */
static void use(MPI_Comm comm, const char *spec) {
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "shoal_alltoallv", spec);
  shoal_comm_set_info(comm, info);
  MPI_Info_free(&info);
}

int main(int argc, char **argv) {
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc > 1) use(MPI_COMM_WORLD, argv[1]);

  int *numbers = malloc(4 * ranks * sizeof(int));
  int *send_counts = numbers, *send_at = numbers + ranks, *recv_counts = numbers + 2 * ranks, *recv_at = numbers + 3 * ranks;
  for (int i = 0; i < ranks; ++i) send_counts[i] = (rank + i) % 3;
  shoal_alltoall(send_counts, 1, MPI_INT, recv_counts, 1, MPI_INT, MPI_COMM_WORLD);

  const int sent = lay_out(send_counts, send_at, ranks), received = lay_out(recv_counts, recv_at, ranks);
  double *items = malloc((sent + 1) * sizeof(double)), *mine = malloc((received + 1) * sizeof(double));
  for (int i = 0; i < ranks; ++i)
    for (int k = 0; k < send_counts[i]; ++k) items[send_at[i] + k] = 100 * rank + i;
  shoal_alltoallv(items, send_counts, send_at, MPI_DOUBLE, mine, recv_counts, recv_at, MPI_DOUBLE, MPI_COMM_WORLD);

  int wrong = 0;
  for (int i = 0; i < ranks; ++i)
    for (int k = 0; k < recv_counts[i]; ++k) wrong += mine[recv_at[i] + k] != 100 * i + rank;
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  char how[200];
  shoal_comm_explain(MPI_COMM_WORLD, how, sizeof how);
  if (rank == 0) printf("%d wrong items; exchanged by %s\n", wrong, how);
  free(numbers);
  free(items);
  free(mine);
  MPI_Finalize();
  return wrong != 0;
}
