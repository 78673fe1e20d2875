// What may be gained where nothing was tried yet.
#pragma once

#include <cstdint>

namespace shoal {

// Seconds, if as many calls follow as there were: these took `native` seconds in all once the MPI was warm, and this rank
// sends so many bytes in each.
double hoped_gain(double native, std::int64_t calls, double bytes, int ranks_of_a_core);

}  // namespace shoal
