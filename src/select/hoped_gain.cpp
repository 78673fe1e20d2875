#include "select/hoped_gain.hpp"

#include <algorithm>

#include "select/ledger.hpp"

namespace shoal {

namespace {

// Seconds of a usual exchange of small blocks through memory that ranks share, and what larger blocks add. If ranks
// share a core, each has to run once, and finds what it looks at of every other rank cold.
double usual_call(double bytes, int ranks, int ranks_of_a_core) {
  constexpr double alone = 0.5e-6, turn = 1.5e-6, peer = 0.45e-6, byte = 0.1e-9;
  return (ranks_of_a_core > 1 ? ranks_of_a_core * (turn + peer * ranks) : alone) + byte * bytes * ranks_of_a_core;
}

}  // namespace

// A third of what seems possible, and no more than a quarter of the time: nobody knows whether as many calls follow,
// and a loss counts for more than a gain. If nothing seems possible, the guess may be wrong, so Shoal hopes all the
// same for half of what the ledger lets a job lose; the other half is for trials.
double hoped_gain(double native, std::int64_t calls, double bytes, int ranks, int ranks_of_a_core) {
  const double possible = native - static_cast<double>(calls) * usual_call(bytes, ranks, ranks_of_a_core);
  return std::clamp(possible / 3, ledger::share / 2 * native, native / 4);
}

}  // namespace shoal
