// Communicators of MPICH that belong to threads instead of processes (MPIX_Threadcomm_init, MPIX_Stream_comm_create).
#pragma once

#include <mpi.h>

namespace shoal {

// Why exchanges on such a communicator are left to the MPI; null for all other communicators. Local.
const char* why_of_threads(MPI_Comm comm);

}  // namespace shoal
