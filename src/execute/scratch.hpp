// How much scratch memory an exchange may need, known before it runs.
#pragma once

#include <cstddef>
#include <cstdint>

#include "execute/linked_schedule.hpp"

namespace shoal {

// At most `bytes` bytes, and `blocks` times the largest block of any rank, for any order of arrival: every message and
// every block that passes through counts as if none had left yet. Blocks that must be packed because of their datatype
// come on top (`packed_bytes`).
struct scratch_bound {
  std::int64_t bytes = 0, blocks = 0;

  std::int64_t with(std::int64_t largest_block, std::int64_t packed_bytes) const;
};

// `uniform`: all blocks are equal, so no sizes travel. `inline_bytes` as of exchange.
scratch_bound bound_scratch(const linked_schedule& steps, bool uniform, std::size_t inline_bytes);

}  // namespace shoal
