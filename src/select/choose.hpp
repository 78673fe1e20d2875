// Picks the algorithm and its parameters for one exchange, the same on every rank.
#pragma once

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

// True when even the smallest blocks go straight to their destinations: then so do all others (specification radix,
// section 7, item 1), and the ranks need not learn each other's sizes to choose.
bool sizes_do_not_matter(int ranks, const measured_exchanges& measured);

}  // namespace shoal
