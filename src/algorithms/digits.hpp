// Digit systems: how a radix algorithm writes the offset between two ranks, and what follows from it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace shoal {

// radices r_0, r_1, ... with weights W_0 = 1, W_{x+1} = W_x * r_x. Trailing radices that `ranks` does not
// need are dropped, so that W_{w-1} < ranks <= W_w. Weights are 64-bit: the last can approach ranks squared.
class digit_system {
 public:
  // One radix for every digit; r >= ranks gives the single digit of the linear exchange.
  digit_system(int ranks, int radix);
  // A mixed system. Throws std::invalid_argument if a radix is below 2 or their product is below `ranks`.
  digit_system(int ranks, const std::vector<int>& radices);

  int ranks() const { return ranks_; }
  int digits() const { return static_cast<int>(radices_.size()); }
  int radix(int x) const { return radices_[x]; }
  std::int64_t weight(int x) const { return weights_[x]; }

  // How many steps digit x has: step (x, z), with 0 < z < radix(x), exists if z * weight(x) < ranks.
  int steps_of_digit(int x) const;
  // Visits the offsets that travel in step (x, z), ascending: those whose digit x is z. A block of offset i has
  // travelled i mod weight(x) ranks before the step and i mod weight(x+1) after it. It arrives if i < weight(x+1).
  template <typename Visit>
  void for_each_offset(int x, int z, Visit visit) const {
    for (std::int64_t base = z * weights_[x]; base < ranks_; base += weights_[x + 1])
      for (std::int64_t i = base; i < std::min<std::int64_t>(base + weights_[x], ranks_); ++i) visit(i);
  }
  std::int64_t steps() const;                                       // K
  std::int64_t blocks_of_step(int x, int z) const;                  // numD(x, z)
  std::int64_t blocks() const;                                      // D
  std::int64_t zero_digits(int x) const;                            // how many offsets 0..ranks-1 have 0 as digit x
  std::int64_t passing_steps() const;                               // K_meta: steps with a block that passes through
  std::int64_t slot_bound() const { return ranks_ - 1 - steps(); }  // B: how many offsets ever pass through
  std::int64_t peak_slots() const;                                  // how many of these a rank holds at once, at most

 private:
  void add_digit(int radix);
  std::int64_t live_after(int x, int z) const;

  int ranks_;
  std::vector<int> radices_;
  std::vector<std::int64_t> weights_{1};  // one more than there are digits
};

// The least radix v with v * v >= ranks, at least 2. It gives the fewest rounds among systems of two digits.
int square_radix(int ranks);

// The remainder that is never negative.
constexpr int modulo(std::int64_t value, int ranks) { return static_cast<int>((value % ranks + ranks) % ranks); }

}  // namespace shoal
