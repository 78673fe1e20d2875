// The switches of a Slurm cluster, whichever file or command described them.
#pragma once

#include <string>
#include <vector>

#include "topology/network_draft.hpp"

namespace shoal {

struct slurm_switch {
  int line = 0;  // where it is described
  std::string name, nodes, switches;
  double speed = standard_link_speed;  // of its links to these nodes and switches
  int level = 0;                       // as scontrol tells it: above 0 `nodes` are all below
};

// Fails where a switch is described twice, or is below another and described nowhere.
switch_network connect(network_draft& draft, std::vector<slurm_switch> switches);

}  // namespace shoal
