// What ranks tell each other about where they run.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <span>
#include <vector>

#include "team/job_facts.hpp"
#include "team/settings.hpp"
#include "topology/layout_tree.hpp"
#include "transport/waiting.hpp"

namespace shoal {

// What the ranks of `comm` share: nodes and, where all levels are wanted, sockets and caches in them; collective.
std::vector<layout_tree::shared_ids> places_of_ranks(MPI_Comm comm, const job_facts& here, bool all_levels,
                                                     waiting& how);

// All that ranks must know of each other, the same on every rank.
struct common_facts {
  std::vector<layout_tree::shared_ids> shared;  // nodes first; then what is inside them, if it was asked for
  int cores = 1;                                // of the node that has fewest
  bool devices = false;  // a device runtime (CUDA, HIP) is loaded on some rank, so any buffer may be device memory
};

// Collective.
common_facts agree_on_facts(MPI_Comm comm, const settings& set, waiting& how);

}  // namespace shoal
