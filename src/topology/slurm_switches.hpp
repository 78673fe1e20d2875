// The switches of a Slurm cluster, whichever file or command described them.
#pragma once

#include <string>
#include <vector>

#include "topology/network_draft.hpp"

namespace shoal {

struct slurm_switch {
  int line = 0;  // where the switch is described
  std::string name, nodes, switches;
  double speed = standard_link_speed;  // of the links to these nodes and switches
  int level = 0;                       // as scontrol prints it; above 0, `nodes` are all machines below
};

// Makes the network. Fails if a switch is described twice, or if a switch that is below another is described nowhere.
switch_network connect(network_draft& draft, std::vector<slurm_switch> switches);

}  // namespace shoal
