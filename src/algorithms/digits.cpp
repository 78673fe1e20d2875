#include "algorithms/digits.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace shoal {

digit_system::digit_system(int ranks, int radix) : ranks_(ranks) {
  if (radix < 2) throw std::invalid_argument("radix " + std::to_string(radix) + " is below 2");
  while (weights_.back() < ranks_) add_digit(radix);
}

digit_system::digit_system(int ranks, const std::vector<int>& radices) : ranks_(ranks) {
  for (int radix : radices) {
    if (radix < 2) throw std::invalid_argument("radix " + std::to_string(radix) + " is below 2");
    if (weights_.back() < ranks_) add_digit(radix);
  }
  if (weights_.back() < ranks_)
    throw std::invalid_argument("the radices multiply to " + std::to_string(weights_.back()) +
                                ", which does not reach the " + std::to_string(ranks_) +
                                " ranks; add a radix or enlarge one");
}

void digit_system::add_digit(int radix) {
  radices_.push_back(radix);
  weights_.push_back(weights_.back() * radix);
}

int digit_system::steps_of_digit(int x) const {
  return static_cast<int>(std::min<std::int64_t>(radices_[x] - 1, (ranks_ - 1) / weights_[x]));
}

std::int64_t digit_system::steps() const {
  std::int64_t sum = 0;
  for (int x = 0; x < digits(); ++x) sum += steps_of_digit(x);
  return sum;
}

std::int64_t digit_system::blocks_of_step(int x, int z) const {
  const std::int64_t low = weights_[x], high = weights_[x + 1];
  return ranks_ / high * low + std::clamp<std::int64_t>(ranks_ % high - z * low, 0, low);
}

std::int64_t digit_system::zero_digits(int x) const {
  return ranks_ / weights_[x + 1] * weights_[x] + std::min(ranks_ % weights_[x + 1], weights_[x]);
}

std::int64_t digit_system::blocks() const {
  std::int64_t sum = 0;
  for (int x = 0; x < digits(); ++x) sum += ranks_ - zero_digits(x);
  return sum;
}

std::int64_t digit_system::passing_steps() const {
  std::int64_t sum = 0;
  for (int x = 0; x < digits(); ++x) {
    const std::int64_t rest = ranks_ - weights_[x + 1];  // step (x, z) counts if z * W_x < rest
    if (rest > 0) sum += std::min<std::int64_t>(radices_[x] - 1, (rest - 1) / weights_[x]);
  }
  return sum;
}

std::int64_t digit_system::peak_slots() const {
  std::int64_t peak = 0;
  for (int x = 0; x < digits(); ++x)
    for (int z = 1; z <= steps_of_digit(x); ++z) peak = std::max(peak, live_after(x, z));
  return peak;
}

// How many offsets have come to a rank and not yet left it after step (x, z).
std::int64_t digit_system::live_after(int x, int z) const {
  const std::int64_t low = weights_[x], next = (z + 1) * low;
  if (next >= ranks_) return 0;
  const std::int64_t m = (ranks_ + low - 1) / low;
  return ranks_ - next - m + 1 + m / radices_[x] * z + std::clamp<std::int64_t>(m % radices_[x] - 1, 0, z);
}

int square_radix(int ranks) {
  int radix = 2;
  while (static_cast<std::int64_t>(radix) * radix < ranks) ++radix;
  return radix;
}

}  // namespace shoal
