// Ranks whose schedules are the same but for the names of ranks, so that one schedule serves them all.
#pragma once

#include <optional>
#include <vector>

#include "algorithms/algorithm.hpp"

namespace shoal {

// Rank r sees the others as rank 0 does, each coordinate of their places moved on by its own: where a ring has all ranks
// there is one coordinate, on an equal layout one for each level.
class relabelling {
 public:
  // Members by level, from the inside out.
  relabelling(std::vector<int> members, int rank) : members_(std::move(members)), rank_(rank) {}

  // The rank that has this name in rank 0's schedule.
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

  // The name of rank 0.
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

// Nothing where the schedules of ranks differ in more: see algorithm::alike.
std::optional<relabelling> relabelling_of(const selection& chosen, const problem& at, int rank);

// Rank 0's schedule as `names`' rank has to run it.
schedule relabelled(schedule of_rank_0, const relabelling& names);

}  // namespace shoal
