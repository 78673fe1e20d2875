// The algorithm families; each returns entries for the table in registry.cpp.
#pragma once

#include <vector>

#include "algorithms/algorithm.hpp"

namespace shoal {

// The algorithm::alike of algorithms that make schedules from distances between ranks alone: one ring of all ranks.
inline std::optional<std::vector<int>> around_one_ring(const problem& at, const arguments&) {
  return std::vector{at.ranks};
}

// One family a line, in the order of the table. The function of a family, name_family(), is in name.cpp.
// clang-format off
#define SHOAL_FAMILIES(family) \
  family(radix)                \
  family(hierarchical)         \
  family(tree)                 \
  family(linear)               \
  family(neighbors)            \
  family(intergroup)
// clang-format on

#define SHOAL_DECLARED(name) std::vector<algorithm> name##_family();
SHOAL_FAMILIES(SHOAL_DECLARED)
#undef SHOAL_DECLARED

}  // namespace shoal
