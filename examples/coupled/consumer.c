/* Receives the fields of all producers in every step, twice, and checks them. Prints how long both ways take until all
 * ranks are done, without the first steps, in which Shoal finds out what is fast here. */
#include <shoal/shoal.h>
#include <stdio.h>
#include <stdlib.h>

#include "coupling.h"

static long long received = 0;

/* Makes one step, and returns how many elements are wrong. */
static int receive(MPI_Comm both, int step, gather_sizes sizes, gather_fields fields, double *seconds) {
  int producers, wrong = 0, sum = 0, *counts, *at;
  MPI_Comm_remote_size(both, &producers);
  counts = malloc(2 * sizeof(int) * producers);
  at = counts + producers;
  MPI_Barrier(both);
  const double begin = MPI_Wtime();
  sizes(NULL, 0, MPI_INT, counts, 1, MPI_INT, both);
  for (int i = 0; i < producers; sum += counts[i++]) at[i] = sum;
  double *all = malloc(sizeof(double) * (sum + 1));
  fields(NULL, 0, MPI_DOUBLE, all, counts, at, MPI_DOUBLE, both);
  MPI_Barrier(both);
  *seconds += MPI_Wtime() - begin;
  for (int i = 0; i < producers; ++i) {
    wrong += counts[i] != field_elements(i, step);
    for (int k = 0; k < counts[i]; ++k) wrong += all[at[i] + k] != field_value(i, step, k);
  }
  received += sum;
  free(all);
  free(counts);
  return wrong;
}

int main(int argc, char **argv) {
  char how[300];
  double native = 0, shoal = 0;
  int rank, wrong = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm both = couple(CONSUMER);
  for (int step = 0; step < STEPS; ++step) {
    if (step == WARM_UP) native = shoal = 0;
    wrong += receive(both, step, MPI_Allgather, MPI_Allgatherv, &native);
    wrong += receive(both, step, shoal_allgather, shoal_allgatherv, &shoal);
  }
  MPI_Comm_rank(both, &rank);
  shoal_comm_explain(both, how, sizeof how);
  MPI_Comm_disconnect(&both);
  if (rank == 0)
    printf("%d steps, %lld elements, timed from step %d on: the MPI's own %.1f ms, Shoal %.1f ms; %d wrong\n%s\n", STEPS,
           received / 2, WARM_UP, native * 1e3, shoal * 1e3, wrong, how);
  MPI_Finalize();
  return wrong > 0;
}
