// Jobs of several parts, as `mpiexec -n 2 ./one : -n 2 ./other` starts them: one part may run without Shoal's preload.
#pragma once

namespace shoal {

struct job_parts {
  bool are_several = false;
  // Some rank on this node runs without the preload. It is the same on every rank here at any time, as processes have what is
  // preloaded from their start.
  bool some_lack_preload = false;

  // By the launcher, where it is on this node.
  static job_parts find();
};

}  // namespace shoal
