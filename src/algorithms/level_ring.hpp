// Where the blocks of a hierarchical exchange are: which rank of a group has a block, and which ranks take part in the
// exchange of a level. docs/decisions/0006.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "topology/layout_tree.hpp"

namespace shoal {

// Says which ranks have a block on its way. Each group on the way knows the block by a number, which says where in the
// group the block goes. In the least group that holds both origin and destination, the number is the place of the
// destination. Heights count the levels of layout_tree without those that are left out.
struct block_places {
  const layout_tree& levels;
  std::vector<int> heights;  // by height: the height in layout_tree
  std::vector<int> most;     // by height: most carriers of a group, which deal with other groups for its ranks

  virtual_range group(int height, int virtual_rank) const { return levels.group(heights[height], virtual_rank); }
  int carriers(int height, const virtual_range& group) const { return std::min(most[height], group.size); }

  // The number by which this member of a group knows a block that the group knows by `number`: counted from the
  // beginning of the member if the block goes to that member, else unchanged; then modulo the carriers of the member.
  int in_member(const virtual_range& group, int number, const virtual_range& member, int height) const;
  // The virtual rank in the group that has the blocks of this number.
  int rank_of(virtual_range group, int height, int number) const;
  // The number by which the group of this height around `self` knows blocks from its ranks for `destination`. Both are
  // virtual ranks.
  int number_of(int destination, int self, int height) const;
};

// A destination of blocks, and the number by which a group knows these blocks.
struct bound {
  int destination, number;
};

// The ring of a group's members, as one rank of the group sees it that takes part in their exchange. Takes memory and
// time proportional to the number of ranks.
class level_ring {
 public:
  level_ring(const block_places& who, int level, int virtual_rank);

  int size() const { return static_cast<int>(begins_.size()) - 1; }
  int position() const { return position_; }
  // The ranks of a member: the origins of blocks that start there.
  std::span<const int> origins(int at) const { return who_.levels.ranks_of(member(at)); }
  // Of the blocks that come through this rank, those that end in a member.
  const std::vector<bound>& ending_in(int at) const { return bound_[at]; }
  // The rank of a member through which blocks of this number leave the member, pass through it or arrive in it.
  int relay(int at, int number) const;

 private:
  virtual_range member(int at) const { return {begins_[at], begins_[at + 1] - begins_[at]}; }
  int member_at(int virtual_rank) const {
    return static_cast<int>(std::upper_bound(begins_.begin(), begins_.end(), virtual_rank) - begins_.begin()) - 1;
  }

  const block_places& who_;
  int level_;
  virtual_range group_;
  std::span<const int> begins_;
  int position_;
  std::vector<std::vector<bound>> bound_;  // by member
};

}  // namespace shoal
