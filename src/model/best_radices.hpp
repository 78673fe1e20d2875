// The digit system that costs least, among all mixed radices.
#pragma once

#include <vector>

#include "algorithms/digits.hpp"

namespace shoal {

// What the parts of a radix exchange cost, in any unit. Any cost that is a sum over digits can be minimised.
struct digit_cost {
  double per_digit = 0;          // once for all steps of a digit, if they are in flight together
  double per_step = 0;           // one message
  double per_block = 0;          // one block sent
  double per_metadata_step = 0;  // added for a step that also sends sizes, as it has blocks that pass through
};

double cost_of(const digit_system& system, const digit_cost& cost);

struct priced_radices {
  std::vector<int> radices;  // lowest digit first; empty for one rank
  double cost = 0;
};

// The result is exact. The search takes time P log P: a digit's cost depends only on its weight and the next weight, so
// the best system is a shortest path over the weights 1..P-1. Each weight leads to its multiples and to the end.
priced_radices best_radices(int ranks, const digit_cost& cost);

}  // namespace shoal
