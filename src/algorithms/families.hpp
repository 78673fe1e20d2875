// The algorithm families; each returns entries for the table in registry.cpp.
#pragma once

#include <vector>

#include "algorithms/algorithm.hpp"

namespace shoal {

// What a schedule made from distances alone is alike in: see algorithm::alike.
inline std::optional<std::vector<int>> around_one_ring(const problem& at, const arguments&) {
  return std::vector{at.ranks};
}

std::vector<algorithm> linear_family();        // linear.cpp
std::vector<algorithm> radix_family();         // radix.cpp
std::vector<algorithm> hierarchical_family();  // hierarchical.cpp
std::vector<algorithm> tree_family();          // tree.cpp
std::vector<algorithm> neighbor_family();      // neighbors.cpp
std::vector<algorithm> intergroup_family();    // intergroup.cpp: allgathers between two groups

}  // namespace shoal
