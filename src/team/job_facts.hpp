// What a rank knows of itself and the job without asking anyone, found once.
#pragma once

#include <cstdint>
#include <vector>

#include "topology/processor.hpp"
#include "transport/waiting.hpp"

namespace shoal {

struct job_facts {
  std::uint64_t node = 0;    // ranks with equal numbers share memory and cores
  std::uint64_t domain = 0;  // and what counts as a node of the layout
  int cores = 1;             // of this node that its ranks may use
  std::vector<int> cpus;     // that this rank may run on
  int ranks_here = 0;        // of the job on this node, as the launcher tells; 0: it does not
};

job_facts find_job_facts(node_level level);

// How ranks of the job wait on a node where `ranks` exchange, if more are not known of: by all that share its cores.
wait_mode polite_mode(const job_facts& here, int ranks);

}  // namespace shoal
