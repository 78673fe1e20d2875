#include "algorithms/level_ring.hpp"

namespace shoal {

int block_places::in_member(const virtual_range& group, int number, const virtual_range& member, int height) const {
  const int from = member.holds(group.first + number) ? member.first - group.first : 0;
  return (number - from) % carriers(height, member);
}

int block_places::rank_of(virtual_range around, int height, int number) const {
  for (; height > 0; --height) {
    const virtual_range member = group(height - 1, around.first + number);
    number = in_member(around, number, member, height - 1);
    around = member;
  }
  return around.first;
}

int block_places::number_of(int destination, int self, int height) const {
  const virtual_range here = group(height, self);
  if (here.holds(destination)) return destination - here.first;
  const virtual_range around = group(height + 1, self);
  return in_member(around, number_of(destination, self, height + 1), here, height);
}

level_ring::level_ring(const block_places& who, int level, int virtual_rank)
    : who_(who),
      level_(level),
      group_(who.group(level + 1, virtual_rank)),
      begins_(who.levels.members(who.heights[level], group_)),
      position_(member_at(virtual_rank)),
      bound_(size()) {
  const int rank = who.levels.rank_at(virtual_rank);
  for (int v = 0; v < who.levels.ranks(); ++v) {
    const int number = who.number_of(v, virtual_rank, level + 1);
    if (relay(position_, number) != rank) continue;
    bound_[member_at(group_.first + number)].push_back({who.levels.rank_at(v), number});
  }
}

int level_ring::relay(int at, int number) const {
  const int inside = who_.in_member(group_, number, member(at), level_);
  return who_.levels.rank_at(who_.rank_of(member(at), level_, inside));
}

}  // namespace shoal
