/* Computes a field in every step and sends it to all consumers, first its size and then the field itself. It does so
 * twice, by the MPI's own collectives and by Shoal's. */
#include <shoal/shoal.h>
#include <stdlib.h>

#include "coupling.h"

/* Sends the field, between barriers for the consumers' clocks. Consumers send nothing back. */
static void ship(MPI_Comm both, const double *field, int elements, gather_sizes sizes, gather_fields fields) {
  int consumers;
  MPI_Comm_remote_size(both, &consumers);
  int *nothing = calloc(consumers, sizeof(int));
  MPI_Barrier(both);
  sizes(&elements, 1, MPI_INT, NULL, 0, MPI_INT, both);
  fields(field, elements, MPI_DOUBLE, NULL, nothing, nothing, MPI_DOUBLE, both);
  MPI_Barrier(both);
  free(nothing);
}

int main(int argc, char **argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm both = couple(PRODUCER);
  MPI_Comm_rank(both, &rank);
  for (int step = 0; step < STEPS; ++step) {
    int elements = field_elements(rank, step);
    double *field = malloc(sizeof(double) * (elements + 1));
    for (int k = 0; k < elements; ++k) field[k] = field_value(rank, step, k);
    ship(both, field, elements, MPI_Allgather, MPI_Allgatherv);
    ship(both, field, elements, shoal_allgather, shoal_allgatherv);
    free(field);
  }
  MPI_Comm_disconnect(&both);
  MPI_Finalize();
  return 0;
}
