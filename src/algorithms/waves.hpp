// Closed forms of what ranks send, for algorithms that go straight or digit by digit.
#pragma once

#include <vector>

#include "algorithms/algorithm.hpp"
#include "algorithms/digits.hpp"

namespace shoal {

// A message to every other rank, `block_count` of them together.
std::vector<wave> linear_waves(const equal_nodes& at, int block_count);
// Digit by digit, `inflight` steps of one together.
std::vector<wave> digit_waves(const digit_system& system, const equal_nodes& at, int inflight);

}  // namespace shoal
