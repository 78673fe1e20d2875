// What ranks tell each other about where they run.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

#include "api/communicator.hpp"
#include "api/job_facts.hpp"

namespace shoal {

// For each rank of `comm` the number of its node; collective.
std::vector<int> nodes_of_ranks(MPI_Comm comm, const job_facts& here, waiting& how);

// All that ranks must know of each other; collective.
communicator::facts agree_on_facts(MPI_Comm comm, const settings& set, waiting& how);

}  // namespace shoal
