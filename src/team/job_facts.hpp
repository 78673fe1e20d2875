// What a rank knows of itself and the job without asking other ranks.
#pragma once

#include <cstdint>
#include <vector>

#include "topology/processor.hpp"
#include "transport/waiting.hpp"

namespace shoal {

struct job_facts {
  std::uint64_t node = 0;    // ranks with equal numbers share memory and cores
  std::uint64_t domain = 0;  // ranks with equal numbers, and equal `node`, are on one node of the layout
  int cores = 1;             // of this node that the job's ranks may use
  std::vector<int> cpus;     // that this rank may run on
  int ranks_here = 0;        // the job's ranks on this node, as the launcher tells; 0 if it does not
};

job_facts find_job_facts(node_level level);

// How many ranks share the cores of this node: as many of the job as the launcher tells, or else all `ranks` of a
// communicator.
int ranks_on_node(const job_facts& here, int ranks);
// How the ranks of a communicator of `ranks` ranks wait on this node: they yield if ranks outnumber cores here.
wait_mode standard_wait_mode(const job_facts& here, int ranks);

}  // namespace shoal
