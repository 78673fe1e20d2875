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
  void count(std::int64_t bytes, double seconds);
  // How many more calls like the last one need not be timed before the ranks look: all but the last ones.
  int untimed_left() const;
  // Counts `calls` more calls like the last one, which were not timed. They took as long, on average, as the timed ones
  // that come after them. Returns about how many seconds the untimed calls before them took.
  double have_passed(int calls);
  // No longer counts the last of these.
  void take_back();
  // Returns about how many seconds the untimed calls took. To be called before said().
  double end_passed();
  // Whether the ranks look now.
  bool is_due() const { return calls_ >= next_; }
  void never_again() { next_ = std::numeric_limits<std::int64_t>::max(); }
  // What this rank says in a look. `allowance`: seconds that the ledger allows.
  numbers said(double allowance) const;
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

  static constexpr int timed_before_look = 16;

  std::int64_t calls_ = 0, next_ = first;
  std::int64_t of_last_ = 1;  // what the last call counts
  double in_calls_ = 0;       // seconds
  int passed_ = 0;            // calls whose time is not known yet
  int timed_ = 0;             // calls since these, and what they took in seconds
  double timed_seconds_ = 0;
  double look_ = 0;  // seconds of the last look; 0: there was none
  bool was_unheard_ = false;
};

}  // namespace shoal
