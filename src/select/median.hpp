// The middle of some times, which a disturbance of a few of them does not move.
#pragma once

#include <algorithm>
#include <vector>

namespace shoal {

// The upper one of two; 0 of none.
inline double median(std::vector<double> of) {
  const auto middle = of.begin() + static_cast<std::ptrdiff_t>(of.size() / 2);
  std::nth_element(of.begin(), middle, of.end());
  return of.empty() ? 0 : *middle;
}

}  // namespace shoal
