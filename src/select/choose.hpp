// Picks the algorithm and its parameters for one exchange, the same on every rank.
#pragma once

#include <optional>
#include <string>

#include "algorithms/algorithm.hpp"
#include "select/calibration.hpp"
#include "select/features.hpp"

namespace shoal {

struct choice {
  selection how;
  std::string reason;  // one line for people
};

// Before anything was measured. `crowded`: on some node ranks outnumber cores, where the MPI's own collectives may keep
// the cores busy that other ranks wait for.
choice choose_unmeasured(bool crowded);

choice choose(const measured_exchanges& measured, const features& sizes);

// For blocks whose sizes each rank knows only in part: the choice that does not need them, or nothing when asking all
// ranks pays. It does not when even the smallest blocks had better go straight (then so do all others, specification
// radix, section 7, item 1), or when what a radix saves them is less than the asking costs.
std::optional<choice> choose_unasked(int ranks, const measured_exchanges& measured);

}  // namespace shoal
