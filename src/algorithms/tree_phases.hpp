// When each message of a contention-free all-to-all on a tree is sent, in closed form.
//
// Source: AAPC on Ethernet switched clusters, sections 4.2 and 4.3, figure 4, whose step numbers are used here;
// corrected.
// Cost: P = m_0 (M - m_0) phases for M ranks in groups of m_0 >= m_1 >= ... ranks. If the groups are the subtrees of
// the root, the most loaded link carries as many messages. The phase of any message is found in constant time.
// Applies: equal blocks; m_0 <= M/2, or M = 1.
#pragma once

#include <cstdint>
#include <vector>

#include "topology/rank_tree.hpp"

namespace shoal {

// Ranks are named by group and place in it: t_i,x is member x of group i.
class phase_table {
 public:
  explicit phase_table(std::vector<int> sizes);

  int groups() const { return static_cast<int>(sizes_.size()); }
  std::int64_t phases() const { return phases_; }
  // The phase of the message t_i,x -> t_j,y.
  std::int64_t phase(int i, int x, int j, int y) const;

 private:
  std::int64_t start(int i, int j) const;
  std::int64_t from_largest(int x, int j, int y) const;
  std::int64_t to_largest(int i, int x, int y) const;
  std::int64_t inside_largest(int x, int y) const;
  std::int64_t inside(int i, int x, int y) const;
  std::int64_t when_largest_sends(std::int64_t round, std::int64_t sender) const;

  std::vector<int> sizes_;
  std::vector<std::int64_t> before_;  // S_i: ranks in the groups before group i
  std::int64_t phases_ = 0;
  std::vector<int> common_, inverse_;  // gcd(m_0, m_j); inverse of m_j / gcd modulo m_0 / gcd
  std::vector<int> turn_;              // how far the senders of group 0 are rotated, by round of m_0 phases
};

// The phase table for the ranks of a network.
class rank_phases {
 public:
  explicit rank_phases(const rank_tree& tree);
  std::int64_t phases() const { return table_.phases(); }
  std::int64_t phase(int from, int to) const {
    return table_.phase(group_[from], member_[from], group_[to], member_[to]);
  }

 private:
  phase_table table_;
  std::vector<int> group_, member_;  // of each rank
};

}  // namespace shoal
