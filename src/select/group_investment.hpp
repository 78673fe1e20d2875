// When it pays to make what Shoal needs to serve allgathers between two groups, if nobody named an algorithm.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <span>

namespace shoal {

// The ranks of both groups look together whether it pays. They do so in the same calls, because all count alike, and
// the more rarely the less it promises. Until it pays, the MPI's own serves.
class group_investment {
 public:
  static constexpr std::size_t terms = 3;
  using numbers = std::array<std::int64_t, terms>;
  // Seconds. A look that takes a rank longer waited for ranks that are late anyway, and this wait is not charged.
  static constexpr double longest_look = 2e-3;

  // Counts a call: the more, the more it moves in all. `bytes`: what it moves, as far as both groups know.
  void count(std::int64_t bytes) { calls_ += std::clamp(bytes / moved_by_one, std::int64_t{1}, most_of_one); }
  // Whether the ranks look now.
  bool is_due() const { return calls_ >= next_; }
  void never_again() { next_ = std::numeric_limits<std::int64_t>::max(); }
  // What this rank says in a look. `in_calls`: seconds that the calls took so far; `allowance`: seconds that the ledger
  // allows.
  numbers said(double in_calls, double allowance) const;
  // Whether it pays, the same on every rank. `heard`: the largest numbers that the ranks said.
  bool pays(std::span<const std::int64_t> heard);
  // Called instead of pays(), on every rank, if some rank heard nothing of others for long. Maybe it came late, so the
  // ranks look once more, after twice as many calls. Maybe a rank has no Shoal, so they never look a third time.
  void was_unheard();
  // Tells how many seconds the look took on this rank. The rank tells the others in the next look.
  void took(double seconds) { look_ = seconds; }

 private:
  // A look takes as long as 10 to 50 small calls if ranks share cores.
  static constexpr std::int64_t first = 1024, moved_by_one = 1 << 15, most_of_one = 32;

  std::int64_t calls_ = 0, next_ = first;
  double look_ = 0;  // seconds of the last look; 0: there was none
  bool was_unheard_ = false;
};

}  // namespace shoal
