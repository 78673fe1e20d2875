// Communicators of Shoal's own beside the user's. Both return null, on every rank, when the MPI has none left.
#pragma once

#include <mpi.h>

namespace shoal {

// The same ranks; collective. Its errors are returned. MPI_COMM_SELF for a rank alone, which stays open.
MPI_Comm duplicate(MPI_Comm comm);
// The ranks of both groups of an inter-communicator, one group behind the other; collective.
MPI_Comm merged(MPI_Comm groups);

}  // namespace shoal
