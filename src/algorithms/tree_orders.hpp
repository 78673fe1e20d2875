// The messages of an all-to-all on a tree in the order in which they should be sent.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "topology/rank_tree.hpp"

namespace shoal {

// All lists hold every ordered pair of different ranks once, by phase and by sender within a phase.

// The closed form of tree_phases.hpp: P = g (M - g) for a largest group of g ranks. Optimal where all links are equal.
std::vector<message> closed_form_order(const rank_tree& tree);

// Phase by phase takes the messages with the largest remaining load per stream on their path, as long as every edge
// has streams left. Cost: O(P M^2 log M), for small clusters with faster links.
std::vector<message> greedy_order(const rank_tree& tree);

// Whether the closed form needs no more phases than any order, or the cluster is too large to look for a better one.
bool closed_form_serves(const rank_tree& tree);
// The closed form where it serves, else the better of both.
std::vector<message> phased_order(const rank_tree& tree);

int phases_of(std::span<const message> ordered);

// For blocks of known sizes, bytes[from * ranks + to]: whenever a message ends, those start whose edges are free, the
// ones with the largest remaining load of an edge first, then the largest. A phase holds what starts at the same moment; empty blocks come in a last phase of their own.
// Cost: O(M^2) messages times those waiting when one ends.
struct sized_order {
  std::vector<message> messages;
  std::size_t empty = 0;  // messages at the end without a byte
  double seconds = 0;     // until the last message ends
};
sized_order list_greedy_order(const rank_tree& tree, std::span<const std::int64_t> bytes);

}  // namespace shoal
