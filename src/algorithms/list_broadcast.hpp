// One member of a list broadcasts what it has to the others: whole, or scattered and gathered again.
//
// Source: binomial broadcast; van de Geijn's scatter and allgather.
// Cost for n members: binomial L(n) rounds, volume L(n); split 2 L(n) rounds, volume 2 (n-1)/n with equal shares.
// Applies: any n >= 1; split if the data is cut into at least n pieces.
#pragma once

#include <functional>

#include "algorithms/allgather_pattern.hpp"
#include "algorithms/intergroup.hpp"

namespace shoal {

// The part that one member takes; member 0 is the root. rank_of gives the ranks of the members; the data is the pieces
// first .. first + count - 1.
class list_broadcast {
 public:
  list_broadcast(step_program& out, int members, int self, std::function<int(int)> rank_of, int first, int count)
      : out_(out), members_(members), self_(self), rank_of_(std::move(rank_of)), first_(first), count_(count) {}

  void binomial(int first_step);
  // The allgather begins `half` steps after first_step, and the scatter ends right before it. So a shorter scatter
  // begins later, and lists of different lengths send their large messages in the same steps.
  void split(int first_step, int half);

 private:
  // Members begin..end-1.
  struct range {
    int begin, end;
    bool has(int member) const { return begin <= member && member < end; }
  };

  void scatter(int first_step);
  void gather(int first_step);
  range scattered_to(int member) const;
  // Appends the pieces of the members begin..end-1. If the shares are uneven, the root's is a larger one.
  void append_shares(range of, std::vector<int>& pieces) const;
  std::vector<int> shares(range of) const;
  std::vector<int> shares_missing_at(int member, int first, int count) const;

  step_program& out_;
  int members_, self_;
  std::function<int(int)> rank_of_;
  int first_, count_;
};

}  // namespace shoal
