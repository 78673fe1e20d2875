// What all ranks know about the sizes of an exchange before they choose its algorithm.
#pragma once

#include <array>
#include <cstdint>

#include "transport/agree.hpp"

namespace shoal {

// What the blocks of an exchange are like on average.
struct block_mix {
  double bytes = 0;           // of a block that is not empty
  double nonempty_share = 1;  // blocks that are not empty, on the rank that sends or receives most: others wait for it

  bool operator==(const block_mix&) const = default;
};

// Agreed by one reduction, so the same on every rank. For one exchange, or summed over several.
struct features {
  std::int64_t ranks = 1;
  std::int64_t total_bytes = 0;      // of all blocks of all ranks
  std::int64_t largest_block = 0;    // bytes
  std::int64_t nonempty_blocks = 0;  // blocks with at least one byte
  std::int64_t most_loaded = 0;      // bytes of the rank that sends or receives most
  bool on_device = false;            // a rank's buffers are device memory
  bool invalid = false;              // a rank's arguments are wrong
  std::int64_t calls = 1;            // exchanges, as many on every rank

  bool is_uniform() const { return calls == 1 && total_bytes == ranks * ranks * largest_block; }
  block_mix mix() const;

  void add(const features& earlier);  // all but on_device and invalid
  // The features of a uniform exchange, which need no agreement: MPI requires all its blocks to be equal.
  static features uniform(int ranks, std::int64_t block_bytes);
};

// Combines what every rank knows; all ranks get the same result.
features agree_on(features mine, agreement& agree);

}  // namespace shoal
