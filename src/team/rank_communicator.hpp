// A communicator of this rank alone, so no other rank has to know of it. Its errors are returned, and never reach the
// program's error handlers.
#pragma once

#include <mpi.h>

namespace shoal {

// Made on first use. Throws mpi_error if the MPI has no communicator left.
MPI_Comm rank_communicator();
// To be called before MPI_Finalize.
void free_rank_communicator();

}  // namespace shoal
