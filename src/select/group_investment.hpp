// When allgathers between two groups, whose algorithm nobody asked for, are worth making what serves them.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <span>

namespace shoal {

// The ranks of both groups look into that together: in calls that all count alike, and the more rarely the less it may pay.
// Until it does the MPI's own serves.
class group_investment {
 public:
  static constexpr std::size_t terms = 3;
  using numbers = std::array<std::int64_t, terms>;

  // A call, which counts the more the more it moves in all: as far as both groups know that, in bytes.
  void count(std::int64_t bytes) { calls_ += std::clamp(bytes / moved_by_one, std::int64_t{1}, most_of_one); }
  // Whether they look now.
  bool is_due() const { return calls_ >= next_; }
  void never_again() { next_ = std::numeric_limits<std::int64_t>::max(); }
  // What this rank says, in seconds: what the calls took so far, and what the ledger allows.
  numbers said(double in_calls, double allowance) const;
  // Whether it pays, by the largest numbers that the ranks have said: the same on every rank.
  bool pays(std::span<const std::int64_t> heard);
  // What that took this rank, in seconds: it tells the others when they look again.
  void took(double seconds) { look_ = seconds; }

 private:
  // A look takes as long as 10 to 50 small calls where ranks share cores.
  static constexpr std::int64_t first = 1024, moved_by_one = 1 << 15, most_of_one = 32;

  std::int64_t calls_ = 0, next_ = first;
  double look_ = 0;  // 0: there was none
};

}  // namespace shoal
