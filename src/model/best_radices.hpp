// The digit system that costs least, among all mixed radices.
#pragma once

#include <vector>

#include "algorithms/digits.hpp"

namespace shoal {

// What the parts of a radix exchange cost, in any unit. Any cost that is a sum over digits can be minimised.
struct digit_cost {
  double per_digit = 0;          // all steps of a digit together, where they are in flight together
  double per_step = 0;           // one message
  double per_block = 0;          // one block sent
  double per_metadata_step = 0;  // on top, for a step that sends sizes too: one with a block that passes through
};

double cost_of(const digit_system& system, const digit_cost& cost);

struct priced_radices {
  std::vector<int> radices;  // lowest digit first; empty for one rank
  double cost = 0;
};

// Exact. Time P log P: a digit's cost depends only on its weight and the next one, so the best system is a
// shortest path over the weights 1..P-1, each leading to its multiples and to the end.
priced_radices best_radices(int ranks, const digit_cost& cost);

}  // namespace shoal
