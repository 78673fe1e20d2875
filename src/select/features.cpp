#include "select/features.hpp"

#include <algorithm>

namespace shoal {

features features::uniform(int ranks, std::int64_t block_bytes) {
  const std::int64_t p = ranks;
  return {p, p * p * block_bytes, block_bytes, block_bytes > 0 ? p * p : 0, p * block_bytes};
}

block_mix features::mix() const {
  if (nonempty_blocks == 0) return {0, 0};
  const auto nonempty = static_cast<double>(nonempty_blocks), all = static_cast<double>(ranks * calls);
  const double bytes = static_cast<double>(total_bytes) / nonempty;
  const double busiest = static_cast<double>(most_loaded) / bytes;
  return {bytes, std::min(1.0, std::max(busiest, nonempty / static_cast<double>(ranks)) / all)};
}

void features::add(const features& earlier) {
  total_bytes += earlier.total_bytes;
  largest_block = std::max(largest_block, earlier.largest_block);
  nonempty_blocks += earlier.nonempty_blocks;
  most_loaded += earlier.most_loaded;
  calls += earlier.calls;
}

features agree_on(features mine, agreement& agree) {
  std::array<std::int64_t, 6> values{mine.total_bytes, mine.nonempty_blocks, mine.largest_block,
                                     mine.most_loaded, mine.on_device,       mine.invalid};
  constexpr std::array combined{combine::sum,     combine::sum,     combine::maximum,
                                combine::maximum, combine::maximum, combine::maximum};
  agree.reach(values, combined);
  return {mine.ranks, values[0], values[2], values[1], values[3], values[4] != 0, values[5] != 0, mine.calls};
}

}  // namespace shoal
