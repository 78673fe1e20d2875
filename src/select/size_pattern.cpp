#include "select/size_pattern.hpp"

#include <algorithm>

namespace shoal {

namespace {

constexpr double alike = 1.5;  // sizes at one place may differ by this factor
constexpr double small = 64;   // bytes that are added to all sizes first, so that small ones count as alike

}  // namespace

std::uint64_t size_pattern::place_of_next(double bytes) {
  const std::int64_t number = calls_++;
  last_[number % remembered] = static_cast<float>(bytes);
  return static_cast<std::uint64_t>(period_ * longest + number % period_);
}

bool size_pattern::repeats(int period) const {
  const int known = static_cast<int>(std::min<std::int64_t>(remembered, calls_));
  const auto before = [&](int i) { return last_[(calls_ - 1 - i) % remembered] + small; };
  for (int i = 0; i + period < known; ++i)
    if (before(i) > alike * before(i + period) || before(i + period) > alike * before(i)) return false;
  return known > period;
}

void size_pattern::write(std::span<std::int64_t> no) const {
  for (int period = 1; period <= longest; ++period) no[period - 1] = !repeats(period);
}

bool size_pattern::agreed(std::span<const std::int64_t> no) {
  const auto shortest = std::find(no.begin(), no.begin() + longest, 0) - no.begin();
  period_ = shortest < longest ? static_cast<int>(shortest) + 1 : 1;
  return shortest < longest;
}

}  // namespace shoal
