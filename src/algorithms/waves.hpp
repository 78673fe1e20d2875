// Formulas for what ranks send, for algorithms in which blocks go straight to their destination or digit by digit.
#pragma once

#include <vector>

#include "algorithms/algorithm.hpp"
#include "algorithms/digits.hpp"

namespace shoal {

// A message to every other rank, `block_count` messages in flight together.
std::vector<wave> linear_waves(const equal_nodes& at, int block_count);
// Digit by digit, `inflight` steps of a digit in flight together.
std::vector<wave> digit_waves(const digit_system& system, const equal_nodes& at, int inflight);

}  // namespace shoal
