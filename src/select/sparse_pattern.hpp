// Mostly empty exchanges as they are measured: one in ten ranks has a block for another, and gets one from it.
#pragma once

#include <algorithm>

namespace shoal {

// Symmetric, and no rank has one for itself; partners are far and near alike.
constexpr bool sparse_pair(int origin, int destination) { return (origin + destination) % 10 == 5; }

// The share of blocks that are not empty, about a tenth, of the rank that has most; 0 for so few ranks that none has a
// partner.
constexpr double sparse_share(int ranks) {
  int most = 0;
  for (int origin = 0; origin < ranks; ++origin) {
    const int first = (15 - origin % 10) % 10;
    if (first < ranks) most = std::max(most, (ranks - 1 - first) / 10 + 1);
  }
  return static_cast<double>(most) / ranks;
}

}  // namespace shoal
