// Finds arguments that the MPI refuses. On a rank that gives such arguments, Shoal leaves the call to the MPI's own
// collective, which reports the error.
#pragma once

#include <mpi.h>

#include <span>

#include "calls/mpi_datatype.hpp"

namespace shoal {

// Whether the MPI accepts the first `blocks` blocks of `buffer`, of these types. `own` is a communicator of Shoal's, or
// MPI_COMM_SELF. `peers`: the rank of each block, if some may be nobody's (MPI_PROC_NULL), which are not looked at.
bool is_valid(const user_buffer& buffer, const type_list& types, int blocks, MPI_Comm own,
              std::span<const int> peers = {});

// Whether `code` is an error that the MPI finds in a call's arguments, before it takes part in the call.
bool is_of_arguments(int code);

}  // namespace shoal
