// When allgathers between two groups, whose algorithm nobody asked for, are worth making what serves them.
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace shoal {

// The ranks of both groups look into that together: in calls of a number that all know, and the more rarely the less it may
// pay. Until it does the MPI's own serves.
class group_investment {
 public:
  static constexpr std::size_t terms = 3;
  using numbers = std::array<std::int64_t, terms>;

  // Whether they look now, behind so many calls.
  bool is_due(std::int64_t calls) const { return calls >= next_; }
  // What this rank says, in seconds: what the calls took so far, and what the ledger allows.
  numbers said(double in_calls, double allowance) const;
  // Whether it pays, by the largest numbers that the ranks have said, behind so many calls: the same on every rank.
  bool pays(std::span<const std::int64_t> heard, std::int64_t calls);
  // What that took this rank, in seconds: it tells the others when they look again.
  void took(double seconds) { look_ = seconds; }

 private:
  // A look takes as long as 10 to 50 small calls where ranks share cores.
  static constexpr std::int64_t first = 1024;

  std::int64_t next_ = first;
  double look_ = 0;  // 0: there was none
};

}  // namespace shoal
