// A communicator of this rank alone, so no other has to know of it. Its errors return, and are not the program's to handle.
#pragma once

#include <mpi.h>

namespace shoal {

// Made on first use. Throws mpi_error where the MPI has none left.
MPI_Comm rank_communicator();
// Before MPI_Finalize.
void free_rank_communicator();

}  // namespace shoal
