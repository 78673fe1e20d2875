// Jobs of several parts, as `mpiexec -n 2 ./one : -n 2 ./other` starts them. One part may run without Shoal's preload.
#pragma once

namespace shoal {

struct job_parts {
  bool are_several = false;
  // Some rank on this node runs without the preload. All ranks of the node find the same at any time, because what is
  // preloaded into a process is there from its start.
  bool some_lack_preload = false;
  // The preload was handed to some nodes only (team/other_nodes.hpp), which users should know.
  bool some_nodes_lack_preload = false;

  // Looks at the launcher and the processes below it, if the launcher is on this node.
  static job_parts find();
};

}  // namespace shoal
