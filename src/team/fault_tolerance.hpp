// What fault-tolerant MPIs (ULFM, as in Open MPI) know of communicators. With other MPIs nothing counts as failed.
#pragma once

#include <mpi.h>

namespace shoal {

// None of these functions waits for another rank.

// Whether the job was started so that it can go on when ranks have failed.
bool is_fault_tolerant();

// Whether some rank has revoked the communicator.
bool is_revoked(MPI_Comm comm) noexcept;
// The class of the errors with which collectives on the communicator end from now on, because it was revoked or a rank
// has failed. MPI_SUCCESS if neither is so.
int lasting_error(MPI_Comm comm) noexcept;
// Revokes the communicator, which ends everything that ranks wait for on it.
void revoke(MPI_Comm comm) noexcept;

}  // namespace shoal
