// Picks the algorithm for one exchange that is fastest by what was measured.
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
  std::string next = {};  // the spec that is next best, or nothing
  double next_seconds = 0;
};

// Picks the fastest algorithm that was measured, but keeps the MPI's own unless another is clearly faster.
choice choose(const measured_exchanges& measured, const block_mix& blocks);

}  // namespace shoal
