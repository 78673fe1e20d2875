// What all ranks know about the sizes of one exchange before they choose how to do it.
#pragma once

#include <array>
#include <cstdint>

#include "execute/agree.hpp"

namespace shoal {

// Agreed by one reduction, so the same on every rank.
struct features {
  std::int64_t ranks = 1;
  std::int64_t total_bytes = 0;    // of all blocks of all ranks
  std::int64_t largest_block = 0;  // bytes
  std::int64_t full_blocks = 0;    // blocks with at least one byte
  std::int64_t most_sent = 0;      // bytes of the rank that sends most
  bool on_device = false;          // a rank's buffers are device memory
  bool invalid = false;            // a rank's arguments are wrong

  bool is_uniform() const { return total_bytes == ranks * ranks * largest_block; }
  double mean_block() const { return static_cast<double>(total_bytes) / static_cast<double>(ranks * ranks); }
  double empty_share() const { return 1.0 - static_cast<double>(full_blocks) / static_cast<double>(ranks * ranks); }

  // Known without asking anyone: MPI requires all blocks of a uniform exchange to be equal.
  static features uniform(int ranks, std::int64_t block_bytes);
};

// Turns this rank's view into everyone's.
features agree_on(features mine, agreement& agree);

}  // namespace shoal
