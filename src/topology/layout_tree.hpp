// Which rank is where on a machine of any number of levels: cores in sockets in nodes in groups, evenly or not, in any
// order. docs/decisions/0006.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "topology/node_layout.hpp"

namespace shoal {

// Ranks first..first+size-1 of those listed along the tree, the virtual ranks.
struct virtual_range {
  int first = 0, size = 0;

  bool holds(int virtual_rank) const { return virtual_rank >= first && virtual_rank < first + size; }
  bool operator==(const virtual_range&) const = default;
};

// Immutable; memory proportional to the number of ranks. Levels count from the inside: the groups of level 0 have ranks
// as their members, those of level l groups of level l-1; the outermost level has one group, of all ranks. A level is
// named for its members. One is `node`: its members are the nodes, and there is a level inside it.
class layout_tree {
 public:
  // How many members each group of a level has, by group.
  struct level {
    std::string name;
    std::vector<int> members;
    bool operator==(const level&) const = default;
  };

  // Levels from the outside in, as people write them, and the ranks in the order of the tree. One node is put around
  // levels without `node`, one core into a last level `node`. Throws std::invalid_argument when the levels do not fit
  // together or not every rank 0..P-1 is there once.
  layout_tree(std::vector<level> outermost_first, std::vector<int> by_virtual);
  // The two levels node and core.
  explicit layout_tree(const node_layout& nodes);
  // What ranks share, from the outside in: ids[r] is that of rank r, and means something within one group only. Groups
  // are ordered by their smallest rank, ranks ascending.
  struct shared_ids {
    std::string name;
    std::vector<int> ids;
  };
  static layout_tree from_ids(const std::vector<shared_ids>& outermost_first);
  // The same without levels other than `node` that tell nothing: they divide no group, or into single members.
  static layout_tree found(std::vector<shared_ids> outermost_first);
  // "group:4 node:8 socket:2 core:8": 4 groups of 8 nodes of 2 sockets of 8 ranks; "node:3 core:4,4,3": a number for
  // each; "node:2 core:2 ranks:0,2,1,3": not in order; slashes do as well as spaces; and all that node_layout reads.
  // Throws std::invalid_argument with the wrong value and what is allowed.
  static layout_tree parse(std::string_view text);

  int ranks() const { return static_cast<int>(by_virtual_.size()); }
  int levels() const { return static_cast<int>(names_.size()); }
  const std::string& name(int level) const { return names_[level]; }
  // The level whose members are the nodes, and that whose members are groups of them behind links of their own, as on a
  // dragonfly: the level `group` outside `node`; without one levels().
  int node_level() const { return node_level_; }
  int group_level() const;

  // What a rank is part of, by height: itself at height 0, its group of level h-1 at height h, all at height levels().
  virtual_range group(int height, int virtual_rank) const;
  // Where the groups of this height in a group of a greater one begin, and where the last one ends.
  std::span<const int> members(int height, const virtual_range& group) const;
  // The most groups of a height in one of a greater height, and the most ranks in one of a height.
  int most_members(int height, int outer) const;
  int largest_group(int height) const;

  int virtual_rank(int rank) const { return virtual_[rank]; }
  int rank_at(int virtual_rank) const { return by_virtual_[virtual_rank]; }
  std::span<const int> ranks_of(const virtual_range& range) const {
    return std::span(by_virtual_).subspan(range.first, range.size);
  }

  // The two-level view: nodes and their ranks, in the order of the tree.
  node_layout nodes() const;

  bool operator==(const layout_tree&) const = default;
  friend std::string to_string(const layout_tree& layout);

 private:
  void add_level(const level& of);

  std::vector<std::string> names_;        // by level
  std::vector<std::vector<int>> begins_;  // by height: where its groups begin, and P
  std::vector<int> by_virtual_, virtual_;
  int node_level_ = 0;
};

// A text that means the same layout; that of node_layout where there are only nodes and their cores.
std::string to_string(const layout_tree& layout);

}  // namespace shoal
