#include "select/calibration.hpp"

#include <algorithm>

#include "algorithms/digits.hpp"

namespace shoal {

namespace {

// A block that passes through is packed and unpacked where a direct one is not.
constexpr double copies_per_hop = 2;

double per_byte(double small, double large, int ranks, std::int64_t large_block) {
  const double bytes = static_cast<double>(large_block - measured_exchanges::small_block) * (ranks - 1);
  return std::max(0.0, large - small) / std::max(1.0, bytes);
}

}  // namespace

// Radix 2 has as many waves as messages: radix_small = K (wave + message); linear_small = wave + (P-1) message.
calibration::calibration(int ranks, const measured_exchanges& seconds) : ranks_(ranks), seconds_(seconds) {
  const double both = seconds.radix_small / static_cast<double>(std::max<std::int64_t>(1, digit_system(ranks, 2).steps()));
  const double least = 0.05 * seconds.linear_small / std::max(1, ranks - 1);
  message_ = ranks > 2 ? std::clamp((seconds.linear_small - both) / (ranks - 2), least, std::max(least, both)) : both / 2;
  wave_ = std::max(0.0, both - message_);
  byte_ = per_byte(seconds.linear_small, seconds.linear_large, ranks, seconds.large_block);
  native_byte_ = per_byte(seconds.native_small, seconds.native_large, ranks, seconds.large_block);
}

double calibration::native(double block, double busiest) const {
  return seconds_.native_small + std::max(busiest, block * (ranks_ - 1)) * native_byte_;
}

double calibration::linear(double block, double busiest) const {
  return seconds_.linear_small + std::max(busiest, block * (ranks_ - 1)) * byte_;
}

double calibration::radix(int radix, double block) const {
  const digit_system system(ranks_, radix);
  return system.digits() * wave_ + static_cast<double>(system.steps()) * message_ +
         static_cast<double>(system.blocks()) * block * byte_ * copies_per_hop;
}

}  // namespace shoal
