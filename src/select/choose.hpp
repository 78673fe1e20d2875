// Picks the fastest of what was measured for one exchange.
#pragma once

#include <string>

#include "algorithms/algorithm.hpp"
#include "select/features.hpp"
#include "select/measured_exchanges.hpp"

namespace shoal {

struct choice {
  selection algorithm;
  std::string reason;     // one line for people
  double seconds = 0;     // expected; 0: not known
  std::string next = {};  // what would be next best, or nothing
  double next_seconds = 0;
};

// The fastest of what was measured; the MPI's own unless another is clearly ahead.
choice choose(const measured_exchanges& measured, const block_mix& blocks);

}  // namespace shoal
