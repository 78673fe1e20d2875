// What ranks tell each other about where they run.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <span>
#include <vector>

#include "learn/communicator.hpp"
#include "team/job_facts.hpp"

namespace shoal {

// Where this rank is, in numbers of which all ranks hear the largest; and what they tell then.
std::vector<std::int64_t> place_of_rank(const job_facts& here, bool all_levels, int rank, int ranks);
std::vector<layout_tree::shared_ids> places_of_ranks(std::span<const std::int64_t> of_all, int ranks);
// What the ranks of `comm` share: nodes and, where all levels are wanted, sockets and caches in them; collective.
std::vector<layout_tree::shared_ids> places_of_ranks(MPI_Comm comm, const job_facts& here, bool all_levels,
                                                     waiting& how);

// All that ranks must know of each other; collective.
communicator::facts agree_on_facts(MPI_Comm comm, const settings& set, waiting& how);

}  // namespace shoal
