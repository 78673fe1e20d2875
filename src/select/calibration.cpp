#include "select/calibration.hpp"

#include <algorithm>

#include "algorithms/digits.hpp"

namespace shoal {

namespace {

// Even the best overlap leaves a message this share of its average cost.
constexpr double least_share = 0.05;

double more_for_large(double small, double large) { return std::max(0.0, large - small); }

}  // namespace

// Radix 2 waits after each of its K messages: K (latency + message). The linear exchange waits once:
// latency + (P-1) message. Their difference for large blocks gives the costs of bytes moved and of bytes copied.
hockney fit(int ranks, const measured_exchanges& seconds) {
  const digit_system two(ranks, 2);
  const int peers = std::max(1, ranks - 1);
  const double both = seconds.radix_small / static_cast<double>(std::max<std::int64_t>(1, two.steps()));
  const double least = least_share * seconds.linear_small / peers;
  const double bytes = static_cast<double>(seconds.large_block - seconds.small_block);

  hockney machine;
  machine.per_message = ranks > 2 ? std::clamp((seconds.linear_small - both) / (peers - 1), least, std::max(least, both)) : both / 2;
  machine.latency = std::max(0.0, both - machine.per_message);
  machine.per_byte = more_for_large(seconds.linear_small, seconds.linear_large) / (peers * bytes);
  const double moved = machine.per_byte * bytes * static_cast<double>(two.blocks());
  const double copied = bytes * static_cast<double>(std::max<std::int64_t>(1, two.blocks() + peers));
  machine.per_copied_byte = std::max(0.0, more_for_large(seconds.radix_small, seconds.radix_large) - moved) / copied;
  return machine;
}

double native_seconds(const measured_exchanges& seconds, double block_bytes) {
  const double bytes = static_cast<double>(seconds.large_block - seconds.small_block);
  const double per_byte = more_for_large(seconds.native_small, seconds.native_large) / bytes;
  return seconds.native_small + per_byte * std::max(0.0, block_bytes - static_cast<double>(seconds.small_block));
}

}  // namespace shoal
