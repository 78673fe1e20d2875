// Where the blocks of a hierarchical exchange are: which rank of a group has them, and who takes part in the exchange of
// a level. docs/decisions/0006.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "topology/layout_tree.hpp"

namespace shoal {

// Who has a block on its way. A group knows the block by a number, which says where in the group it goes: at first, in
// the least group with both ends, the place of its destination. Heights are those of layout_tree without the levels that
// are left out.
struct relays {
  const layout_tree& levels;
  std::vector<int> heights;  // of layout_tree
  std::vector<int> most;     // by height: carriers of a group, who deal with other groups for it

  virtual_range group(int height, int virtual_rank) const { return levels.group(heights[height], virtual_rank); }
  int carriers(int height, const virtual_range& group) const { return std::min(most[height], group.size); }

  // The number of a block in this member of a group that knows it by `number`: counted from the beginning of the member
  // if it goes there, else unchanged; always one of its carriers.
  int in_member(const virtual_range& group, int number, const virtual_range& member, int height) const;
  // The virtual rank of the group that blocks of this number are at.
  int rank_of(virtual_range group, int height, int number) const;
  // By which the group of this height around `self` knows blocks from its ranks for a destination; virtual ranks.
  int number_of(int destination, int self, int height) const;
};

// A destination of blocks, and the number by which a group knows them.
struct bound {
  int destination, number;
};

// The members of a group as one of its ranks takes part in their exchange. Memory and time proportional to the number
// of ranks.
class level_ring {
 public:
  level_ring(const relays& who, int level, int virtual_rank);

  int size() const { return static_cast<int>(begins_.size()) - 1; }
  int position() const { return position_; }
  // The ranks whose blocks start in a member.
  std::span<const int> origins(int at) const { return who_.levels.ranks_of(member(at)); }
  // The blocks that end in a member, of those that come through this rank.
  const std::vector<bound>& ending_in(int at) const { return bound_[at]; }
  // The rank of a member through which blocks of this number leave it, pass it or arrive.
  int relay(int at, int number) const;

 private:
  virtual_range member(int at) const { return {begins_[at], begins_[at + 1] - begins_[at]}; }
  int member_at(int virtual_rank) const {
    return static_cast<int>(std::upper_bound(begins_.begin(), begins_.end(), virtual_rank) - begins_.begin()) - 1;
  }

  const relays& who_;
  int level_;
  virtual_range group_;
  std::span<const int> begins_;
  int position_;
  std::vector<std::vector<bound>> bound_;  // by member
};

}  // namespace shoal
