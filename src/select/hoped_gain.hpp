// What Shoal may gain if nothing has been tried yet.
#pragma once

#include <cstdint>

namespace shoal {

// Seconds that may be gained if `calls` more calls follow. As many calls have come so far: by the MPI's own, once warm,
// they take `native` seconds in all, and this rank sends `bytes` in each, to `ranks` ranks on this node.
double hoped_gain(double native, std::int64_t calls, double bytes, int ranks, int ranks_of_a_core);

}  // namespace shoal
