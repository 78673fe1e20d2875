// A clock that all ranks of a node share. That of MPI_Wtime may begin with the rank.
#pragma once

#ifdef SHOAL_SIMULATED_TIME
#include <mpi.h>
#else
#include <chrono>
#endif

namespace shoal {

// Seconds since some time in the past.
inline double node_clock() {
#ifdef SHOAL_SIMULATED_TIME
  return PMPI_Wtime();
#else
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
#endif
}

}  // namespace shoal
