// What fault-tolerant MPIs (ULFM, as Open MPI has it) know of communicators; under others nothing ever fails.
#pragma once

#include <mpi.h>

namespace shoal {

// All of these ask no other rank.

// Whether some rank has revoked it.
bool is_revoked(MPI_Comm comm) noexcept;
// The class of the errors that its collectives end with from now on: because it is revoked, or a rank has failed. Else
// MPI_SUCCESS.
int lasting_error(MPI_Comm comm) noexcept;
// Ends everything that ranks wait for on it.
void revoke(MPI_Comm comm) noexcept;

}  // namespace shoal
