// Communicators of MPICH that belong to threads instead of processes (MPIX_Threadcomm_init, MPIX_Stream_comm_create).
#pragma once

#include <mpi.h>

namespace shoal {

// Why exchanges on such a communicator are left to the MPI; null for all other communicators. The same on every rank.
// Local.
const char* why_of_threads(MPI_Comm comm);

// To be called on every rank for a communicator that was made with streams. Marks its duplicates too, which have the
// streams as well.
void mark_streams(MPI_Comm comm) noexcept;

}  // namespace shoal
