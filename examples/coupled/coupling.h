/* What the two programs share: how they find each other, and how large a field is. Start them together:
 *
 *   mpiexec -n 3 ./producer : -n 5 ./consumer
 */
#ifndef COUPLING_H
#define COUPLING_H

#include <limits.h>
#include <mpi.h>

enum { PRODUCER, CONSUMER, STEPS = 20, WARM_UP = 5 };

/* MPI_Allgather and MPI_Allgatherv, or Shoal's functions. */
typedef int (*gather_sizes)(const void *, int, MPI_Datatype, void *, int, MPI_Datatype, MPI_Comm);
typedef int (*gather_fields)(const void *, int, MPI_Datatype, void *, const int *, const int *, MPI_Datatype, MPI_Comm);

/* The number of elements of a producer's field. It differs between ranks and between steps, and is sometimes 0. */
static inline int field_elements(int producer, int step) {
  const int size = (producer * 7919 + step * 104729) % 40000 - 2000;
  return size > 0 ? size : 0;
}
static inline double field_value(int producer, int step, int element) {
  return producer * 1e6 + step * 1e3 + element % 997;
}

/* Both programs are in MPI_COMM_WORLD. They split it, and each finds the first rank of the other. */
static inline MPI_Comm couple(int program) {
  MPI_Comm own, both;
  int rank, first[2] = {INT_MAX, INT_MAX};
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  first[program] = rank;
  MPI_Allreduce(MPI_IN_PLACE, first, 2, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  MPI_Comm_split(MPI_COMM_WORLD, program, rank, &own);
  MPI_Intercomm_create(own, 0, MPI_COMM_WORLD, first[1 - program], 0, &both);
  MPI_Comm_free(&own);
  return both;
}

#endif
