// Which rank is where on a machine with any number of levels: cores in sockets in nodes in groups, evenly or not, with
// the ranks in any order. See docs/decisions/0006.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "topology/node_layout.hpp"

namespace shoal {

// The virtual ranks first..first+size-1. The virtual rank of a rank is its place when the ranks are listed along the
// tree.
struct virtual_range {
  int first = 0, size = 0;

  bool holds(int virtual_rank) const { return virtual_rank >= first && virtual_rank < first + size; }
  bool operator==(const virtual_range&) const = default;
};

// Immutable; takes memory in proportion to the number of ranks. Levels are counted from the inside: the members of a
// group of level 0 are ranks, those of a group of level l are groups of level l-1. The outermost level has one group,
// which holds all ranks. A level is named after its members. One level is always `node`: its members are the nodes, and
// there is a level inside it.
class layout_tree {
 public:
  // How many members each group of a level has, by group.
  struct level {
    std::string name;
    std::vector<int> members;
    bool operator==(const level&) const = default;
  };

  // Levels from the outside in, as people write them, and the ranks in the order of the tree. If no level is `node`,
  // one node is put around all levels. If the innermost level is `node`, each node gets one core. Throws
  // std::invalid_argument if the levels do not fit together, or if not every rank 0..P-1 is there once.
  layout_tree(std::vector<level> outermost_first, std::vector<int> by_virtual);
  // The two levels node and core.
  explicit layout_tree(const node_layout& nodes);
  // What ranks share at one level: ranks with equal ids (ids[r] for rank r) are in one member of this level, if they
  // are in one member of the level around it. Members are ordered by their smallest rank, and the ranks in them ascend.
  struct shared_ids {
    std::string name;
    std::vector<int> ids;
  };
  static layout_tree from_ids(const std::vector<shared_ids>& outermost_first);
  // The same, but leaves out levels other than `node` that tell nothing: those that divide no group, and those whose
  // members all have a single member.
  static layout_tree found(std::vector<shared_ids> outermost_first);
  // Reads "group:4 node:8 socket:2 core:8": 4 groups of 8 nodes of 2 sockets of 8 ranks; "node:3 core:4,4,3": a number
  // for each node; "node:2 core:2 ranks:0,2,1,3": ranks in another order; and all that node_layout reads. Slashes may
  // stand for spaces. Throws std::invalid_argument that names the wrong value and what is allowed.
  static layout_tree parse(std::string_view text);

  int ranks() const { return static_cast<int>(by_virtual_.size()); }
  int levels() const { return static_cast<int>(names_.size()); }
  const std::string& name(int level) const { return names_[level]; }
  // node_level(): the level whose members are the nodes. group_level(): the level `group` outside `node`, whose members
  // are groups of nodes behind links of their own, as on a dragonfly; levels() if there is none.
  int node_level() const { return node_level_; }
  int group_level() const;

  // What a rank is part of at a height: the rank itself at height 0, its group of level h-1 at height h, and all ranks
  // at height levels().
  virtual_range group(int height, int virtual_rank) const;
  // Where the groups of this height begin within a group of a greater height, and where the last of them ends.
  std::span<const int> members(int height, const virtual_range& group) const;
  // most_members(): the most groups of a height within one group of the greater height `outer`. largest_group(): the
  // most ranks within one group of a height.
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

// A text that means the same layout: that of node_layout if there are only nodes and their cores.
std::string to_string(const layout_tree& layout);

}  // namespace shoal
