/* Makes exchanges of what is no datatype, which must be errors on their own communicators, and right exchanges between
 * them. Errors on MPI_COMM_WORLD or MPI_COMM_SELF would end the program, as MPI does by default. Prints the class of
 * each error. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>

enum { most = 16, times = 120 };

static int rank, ranks, faults;

static void right(MPI_Comm comm) {
  int out[most], in[most];
  for (int i = 0; i < ranks; ++i) out[i] = rank * most + i, in[i] = -1;
  MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, comm);
  for (int i = 0; i < ranks; ++i) faults += in[i] != i * most + rank;
}

static void tell(int code) {
  int class;
  MPI_Error_class(code, &class);
  if (rank == 0) printf("class %d\n", class);
}

static void wrong(MPI_Comm comm, MPI_Comm neighbors, int is_told) {
  static int out[4 * most], in[4 * most], ones[most], places[most];
  MPI_Datatype types[most], type = (MPI_Datatype)(intptr_t)12345;
  MPI_Request request = MPI_REQUEST_NULL;
  for (int i = 0; i < ranks; ++i) ones[i] = 1, places[i] = 4 * i, types[i] = type;
  const int codes[] = {MPI_Alltoall(out, 1, type, in, 1, type, comm),
                       MPI_Alltoallv(out, ones, places, type, in, ones, places, type, comm),
                       MPI_Alltoallw(out, ones, places, types, in, ones, places, types, comm),
                       MPI_Ialltoall(out, 1, type, in, 1, type, comm, &request),
                       MPI_Ialltoallv(out, ones, places, type, in, ones, places, type, comm, &request),
                       MPI_Alltoall_init(out, 1, type, in, 1, type, comm, MPI_INFO_NULL, &request),
                       MPI_Neighbor_alltoall(out, 1, type, in, 1, type, neighbors)};
  for (unsigned i = 0; i < sizeof codes / sizeof *codes; ++i) {
    if (is_told) tell(codes[i]);
    faults += codes[i] == MPI_SUCCESS;
  }
}

int main(int argc, char** argv) {
  MPI_Comm comm, neighbors;
  int all[most], weights[most];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int i = 0; i < ranks; ++i) all[i] = i, weights[i] = 1;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, ranks, all, weights, ranks, all, weights, MPI_INFO_NULL, 0, &neighbors);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(neighbors, MPI_ERRORS_RETURN);
  for (int i = 0; i < times; ++i) {
    right(comm);
    wrong(comm, neighbors, i == 0);
  }
  right(comm);
  MPI_Allreduce(MPI_IN_PLACE, &faults, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("faults: %d\n", faults);
  MPI_Comm_free(&comm);
  MPI_Comm_free(&neighbors);
  return MPI_Finalize();
}
