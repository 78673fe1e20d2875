// Arguments that the MPI refuses. A rank that gives such leaves the call to the MPI's own collective, which says so.
#pragma once

#include <mpi.h>

#include "execute/user_buffer.hpp"

namespace shoal {

// Whether the MPI takes blocks of `type` at `buffer`, as described, from or to so many ranks. `own` is a communicator of
// Shoal's, or MPI_COMM_SELF.
bool is_valid(const user_buffer& buffer, MPI_Datatype type, int ranks, MPI_Comm own);

}  // namespace shoal
