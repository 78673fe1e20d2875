// What ranks tell each other about where they run.
#pragma once

#include <mpi.h>

#include <vector>

#include "learn/communicator.hpp"
#include "team/job_facts.hpp"

namespace shoal {

// What the ranks of `comm` share: nodes and, where all levels are wanted, sockets and caches in them; collective.
std::vector<layout_tree::shared_ids> places_of_ranks(MPI_Comm comm, const job_facts& here, bool all_levels,
                                                     waiting& how);

// All that ranks must know of each other; collective.
communicator::facts agree_on_facts(MPI_Comm comm, const settings& set, waiting& how);

}  // namespace shoal
