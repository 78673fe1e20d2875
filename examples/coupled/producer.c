/* Computes a field in every step and ships it to all consumers: first its size, then itself. Every step twice, by the
 * MPI's own collectives and by Shoal's. */
#include <shoal/shoal.h>
#include <stdlib.h>

#include "coupling.h"

int main(int argc, char **argv) {
  int rank, consumers;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm both = couple(PRODUCER);
  MPI_Comm_rank(both, &rank);
  MPI_Comm_remote_size(both, &consumers);
  int *nothing = calloc(consumers, sizeof(int)); /* consumers send nothing back */
  for (int step = 0; step < STEPS; ++step) {
    int elements = field_elements(rank, step);
    double *field = malloc(sizeof(double) * (elements + 1));
    for (int k = 0; k < elements; ++k) field[k] = field_value(rank, step, k);
    MPI_Allgather(&elements, 1, MPI_INT, NULL, 0, MPI_INT, both);
    MPI_Allgatherv(field, elements, MPI_DOUBLE, NULL, nothing, nothing, MPI_DOUBLE, both);
    shoal_allgather(&elements, 1, MPI_INT, NULL, 0, MPI_INT, both);
    shoal_allgatherv(field, elements, MPI_DOUBLE, NULL, nothing, nothing, MPI_DOUBLE, both);
    free(field);
  }
  free(nothing);
  MPI_Comm_disconnect(&both);
  MPI_Finalize();
  return 0;
}
