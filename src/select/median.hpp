// The middle one of some times, which does not move if a few of them were disturbed.
#pragma once

#include <algorithm>
#include <vector>

namespace shoal {

// The upper one if two are in the middle; 0 if there are none.
inline double median(std::vector<double> of) {
  const auto middle = of.begin() + static_cast<std::ptrdiff_t>(of.size() / 2);
  std::nth_element(of.begin(), middle, of.end());
  return of.empty() ? 0 : *middle;
}

}  // namespace shoal
