// The messages of an all-to-all on a tree in the order in which they should be sent.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "topology/rank_tree.hpp"

namespace shoal {

// All lists hold every ordered pair of different ranks once, sorted by phase, and within a phase by sender.

// The closed form of tree_phases.hpp: P = g (M - g) for a largest group of g ranks. Optimal if all links are equal.
std::vector<message> closed_form_order(const rank_tree& tree);

// Fills phase after phase with the messages that have the largest remaining load per stream on their path, as long as
// every edge of the path has a stream left. Cost: O(P M^2 log M), for small clusters with faster links.
std::vector<message> greedy_order(const rank_tree& tree);

// Whether the closed form needs no more phases than any order, or the cluster is too large to look for a better order.
bool closed_form_serves(const rank_tree& tree);
// The closed form if closed_form_serves(); else the better one of the closed form and the greedy order.
std::vector<message> phased_order(const rank_tree& tree);

int phases_of(std::span<const message> ordered);

// An order for blocks of known sizes, bytes[from * ranks + to]. Whenever a message ends, the messages start whose edges
// are free: first those with the largest remaining load on an edge of their path, and among these the largest messages.
// A phase holds the messages that start at the same moment; empty blocks come in a last phase of their own.
// Cost: O(M^2) messages times those that wait when one ends.
struct sized_order {
  std::vector<message> messages;
  std::size_t empty = 0;  // how many messages at the end have no bytes
  double seconds = 0;     // until the last message ends
};
sized_order list_greedy_order(const rank_tree& tree, std::span<const std::int64_t> bytes);

}  // namespace shoal
