// The mostly empty exchanges that are measured: each rank exchanges blocks with one in ten ranks.
#pragma once

#include <algorithm>

namespace shoal {

// Whether `origin` has a block for `destination`. Symmetric; no rank has a block for itself; some partners are near,
// some far.
constexpr bool sparse_pair(int origin, int destination) { return (origin + destination) % 10 == 5; }

// The share of blocks that are not empty, on the rank that has most of them: about a tenth, or 0 if there are so few
// ranks that none has a partner.
constexpr double sparse_share(int ranks) {
  int most = 0;
  for (int origin = 0; origin < ranks; ++origin) {
    const int first = (15 - origin % 10) % 10;
    if (first < ranks) most = std::max(most, (ranks - 1 - first) / 10 + 1);
  }
  return static_cast<double>(most) / ranks;
}

}  // namespace shoal
