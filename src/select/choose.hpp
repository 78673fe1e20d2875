// Picks the algorithm and its parameters for one exchange, the same on every rank.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "algorithms/algorithm.hpp"
#include "select/calibration.hpp"
#include "select/features.hpp"

namespace shoal {

struct choice {
  selection how;
  std::string reason;     // one line for people
  double seconds = 0;     // expected; 0: not known
  std::string next = {};  // what would be next best, or nothing
  double next_seconds = 0;
};

// Before anything was measured. `crowded`: on some node ranks outnumber cores, where the MPI's own collectives may keep
// the cores busy that other ranks wait for.
choice choose_unmeasured(bool crowded);

// The fastest of what was measured; the MPI's own unless another is clearly ahead.
choice choose(const measured_exchanges& measured, const features& sizes);

// For blocks whose sizes each rank knows only in part: the choice that does not need them, or nothing when asking all
// ranks pays. Decided by the largest regret over the measured blocks: how many times the best exchange for that block a
// choice takes, or the best exchange and the asking together.
std::optional<choice> choose_unasked(const measured_exchanges& measured);

// The specs worth trying on the program's own exchanges, most promising first: few, and none twice as slow as the
// first. For blocks of this size on average; without one by the largest regret, whatever the sizes.
std::vector<std::string> likely(const measured_exchanges& measured, std::optional<double> block);

}  // namespace shoal
