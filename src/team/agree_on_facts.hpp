// What ranks tell each other about where they run.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <span>
#include <vector>

#include "algorithms/algorithm.hpp"
#include "team/job_facts.hpp"
#include "select/settings.hpp"
#include "topology/layout_tree.hpp"
#include "transport/waiting.hpp"

namespace shoal {

// What the ranks of `comm` share: nodes and, with `all_levels`, the sockets and caches inside them. Collective.
std::vector<layout_tree::shared_ids> places_of_ranks(MPI_Comm comm, const job_facts& here, bool all_levels,
                                                     waiting& waits);
// Where the ranks run: as the settings say, or else by what the ranks `share`. Collective if the settings have a
// topology. Throws std::invalid_argument on every rank if the topology lacks the host of one of them.
problem place_ranks(MPI_Comm comm, const settings& set, std::vector<layout_tree::shared_ids> share, waiting& waits);

// All that ranks must know of each other. The same on every rank.
struct common_facts {
  problem where;
  int cores = 1;         // on the node that has the fewest
  bool devices = false;  // a device runtime (CUDA, HIP) is loaded on some rank, so any buffer may be device memory
};

// Collective. Throws as place_ranks() does.
common_facts agree_on_facts(MPI_Comm comm, const settings& set, waiting& waits);

}  // namespace shoal
