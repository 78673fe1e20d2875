// One all-to-all call, in any of MPI's forms: done by Shoal, or handed to the MPI's own collective.
#pragma once

#include <mpi.h>

#include "calls/native_call.hpp"
#include "execute/user_buffer.hpp"

namespace shoal {

// The arguments of MPI_Alltoall or MPI_Alltoallv.
struct alltoall_call {
  bool uniform;  // MPI_Alltoall
  const void* send;
  number_array send_counts, send_displacements;  // displacements in units of the type's extent
  MPI_Datatype send_type;
  void* recv;
  number_array recv_counts, recv_displacements;
  MPI_Datatype recv_type;
  MPI_Comm comm;

  const char* name() const { return uniform ? "alltoall" : "alltoallv"; }
};

// Returns an MPI error code; errors have been raised on the communicator. `info` may name the algorithm for this
// call under shoal_alltoall or shoal_alltoallv, the same on every rank.
int alltoall(const alltoall_call& call, manners how, MPI_Info info, native_call native);

}  // namespace shoal
