// Which rank is on which node. Any placement: uneven nodes, cyclic, permuted, one rank per node, one node.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace shoal {

// Immutable; takes memory in proportion to the number of ranks. Nodes are numbered 0..nodes()-1. The virtual rank of a
// rank is its place when the ranks are listed node by node. If the ranks are numbered node by node, it is the rank
// itself.
class node_layout {
 public:
  static constexpr int most_ranks = 1 << 21;

  // Ranks with the same number share a node; the numbers themselves mean nothing. Nodes are ordered by their
  // smallest rank, and the ranks of a node ascend.
  static node_layout from_node_ids(std::span<const int> node_of_rank);
  static node_layout one_rank_per_node(int ranks);
  // The ranks of each node, in the order given. Throws std::invalid_argument unless every rank 0..P-1 is there
  // once and no node is empty.
  static node_layout from_lists(const std::vector<std::vector<int>>& ranks_of_nodes);
  // "4,4,3": ranks per node, in blocks; "8x8": 8 nodes of 8; "cyclic:3x4" or "cyclic:4,4,3": the same sizes, ranks
  // dealt out in turn; "0,3,6/1,4/2,5": the ranks of each node. Throws std::invalid_argument that names the wrong
  // value and what is allowed.
  static node_layout parse(std::string_view text);

  int ranks() const { return static_cast<int>(node_.size()); }
  int nodes() const { return static_cast<int>(first_.size()) - 1; }
  int largest_node() const { return largest_; }

  int node_of(int rank) const { return node_[rank]; }
  int local_of(int rank) const { return virtual_[rank] - first_[node_[rank]]; }  // its place among the node's ranks
  int size_of(int node) const { return first_[node + 1] - first_[node]; }
  std::span<const int> ranks_of(int node) const {
    return {by_virtual_.data() + first_[node], static_cast<std::size_t>(size_of(node))};
  }

  int virtual_rank(int rank) const { return virtual_[rank]; }
  int rank_at(int virtual_rank) const { return by_virtual_[virtual_rank]; }
  int first_virtual(int node) const { return first_[node]; }

  bool operator==(const node_layout&) const = default;

 private:
  // Counts of ranks per node and the ranks node by node.
  node_layout(const std::vector<int>& sizes, std::vector<int> by_virtual);

  std::vector<int> node_, virtual_;  // per rank
  std::vector<int> by_virtual_;      // the ranks, node by node
  std::vector<int> first_;           // per node, and one past the last: where its ranks begin
  int largest_ = 0;
};

// A text that means the same layout, the shortest of "8x8", "4,4,3" and "0,3,6/1,4/2,5".
std::string to_string(const node_layout& layout);

}  // namespace shoal
