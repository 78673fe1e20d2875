// Arguments that the MPI refuses. A rank that gives such leaves the call to the MPI's own collective, which says so.
#pragma once

#include <mpi.h>

#include <span>

#include "calls/mpi_datatype.hpp"

namespace shoal {

// Whether the MPI takes this number of blocks of these types at `buffer`, as described. `own` is a communicator of
// Shoal's, or MPI_COMM_SELF. `peers`: whose blocks they are, where some may be nobody's (MPI_PROC_NULL), which are not
// looked at.
bool is_valid(const user_buffer& buffer, const type_list& types, int blocks, MPI_Comm own,
              std::span<const int> peers = {});

// Whether a call ended in an error that the MPI finds in arguments, before it takes part.
bool is_of_arguments(int code);

}  // namespace shoal
