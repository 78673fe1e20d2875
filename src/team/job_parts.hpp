// Jobs of several parts, as `mpiexec -n 2 ./one : -n 2 ./other` starts them: one part may run without Shoal's preload.
#pragma once

namespace shoal {

// Whether some rank on this node runs without the preload. It is the same on every rank here at any time, as processes have
// what is preloaded from their start. False where the job has one part, or its launcher is on another node.
bool some_ranks_lack_preload();

}  // namespace shoal
