#include "select/features.hpp"

namespace shoal {

features features::uniform(int ranks, std::int64_t block_bytes) {
  const std::int64_t p = ranks;
  return {p, p * p * block_bytes, block_bytes, block_bytes > 0 ? p * p : 0, p * block_bytes, false, false};
}

features agree_on(features mine, agreement& agree) {
  std::array<std::int64_t, 6> values{mine.total_bytes, mine.full_blocks, mine.largest_block,
                                     mine.most_sent,   mine.on_device,   mine.invalid};
  constexpr std::array how{combine::sum,     combine::sum,     combine::maximum,
                           combine::maximum, combine::maximum, combine::maximum};
  agree.reach(values, how);
  return {mine.ranks, values[0], values[2], values[1], values[3], values[4] != 0, values[5] != 0};
}

}  // namespace shoal
