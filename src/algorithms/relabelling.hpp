// For ranks whose schedules differ only in the names of ranks, so that one schedule serves them all.
#pragma once

#include <optional>
#include <vector>

#include "algorithms/algorithm.hpp"

namespace shoal {

// Rank r sees the other ranks as rank 0 does, with each coordinate of their places moved on by the same coordinate of
// r. If one ring has all ranks, there is one coordinate; on an equal layout there is one for each level.
class relabelling {
 public:
  // `members`: of a ring at each level, from the inside out.
  relabelling(std::vector<int> members, int rank) : members_(std::move(members)), rank_(rank) {}

  // The rank that has in this rank's schedule the place that `name` has in rank 0's schedule.
  int operator()(int name) const {
    int result = 0, weight = 1, rest = rank_;
    for (const int n : members_) {
      result += (name % n + rest % n) % n * weight;
      name /= n;
      rest /= n;
      weight *= n;
    }
    return result;
  }

  // The name that stands for rank 0.
  int name_of_0() const {
    int result = 0, weight = 1, rest = rank_;
    for (const int n : members_) {
      result += (n - rest % n) % n * weight;
      rest /= n;
      weight *= n;
    }
    return result;
  }

 private:
  std::vector<int> members_;
  int rank_;
};

// Nothing if the schedules of the ranks differ in more than names: see algorithm::alike.
std::optional<relabelling> relabelling_of(const selection& chosen, const problem& at, int rank);

// The schedule of the rank that `names` was made for, from that of rank 0.
schedule relabelled(schedule of_rank_0, const relabelling& names);

}  // namespace shoal
