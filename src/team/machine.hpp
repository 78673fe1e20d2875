// What a profile is valid for: an MPI library and a kind of machine.
#pragma once

#include <string>

namespace shoal {

// As in "MPICH 5.0.2".
std::string mpi_version();
// As in "Intel(R) Xeon(R) Gold 6248, 2 cores".
std::string machine_name(int cores);

}  // namespace shoal
