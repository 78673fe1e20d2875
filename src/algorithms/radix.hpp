// What the parameters of a radix algorithm mean.
#pragma once

#include "algorithms/algorithm.hpp"
#include "algorithms/digits.hpp"

namespace shoal {

// The digit system of tuna or bruck with these arguments. Throws std::invalid_argument if it does not reach `ranks`.
digit_system chosen_system(int ranks, const arguments& with);

}  // namespace shoal
