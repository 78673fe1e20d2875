// What exchanges cost on one communicator, from a few measured ones.
#pragma once

#include <cstdint>

#include "model/hockney.hpp"

namespace shoal {

// Seconds of uniform exchanges with blocks of small_block and of large_block bytes, the slowest rank's.
struct measured_exchanges {
  static constexpr std::int64_t small_block = 8;
  std::int64_t large_block = 32768;
  double native_small = 0, native_large = 0;
  double linear_small = 0, linear_large = 0;
  double radix_small = 0, radix_large = 0;  // tuna:radix=2
};

// The model's parameters that explain the measured exchanges of Shoal's own. The latency is the time until others have
// answered: a network's, or with more ranks than cores the time until every rank had its turn.
hockney fit(int ranks, const measured_exchanges& seconds);

// The MPI's own collective: a straight line through its two measurements.
double native_seconds(const measured_exchanges& seconds, double block_bytes);

}  // namespace shoal
