// Picks the algorithm and its parameters for one exchange, the same on every rank.
#pragma once

#include <string>

#include "algorithms/algorithm.hpp"
#include "select/features.hpp"

namespace shoal {

// What is known of the machine under a communicator; agreed when the communicator is first used.
struct machine {
  int nodes = 1;
  int most_ranks_per_node = 1;
  bool crowded = false;  // on some node ranks outnumber cores
  bool polls_hard = false;  // the MPI's own collectives keep their core while they wait
};

struct choice {
  selection how;
  std::string reason;  // one line for people
};

choice choose(const problem& at, const machine& where, const features& sizes, bool uniform);

}  // namespace shoal
