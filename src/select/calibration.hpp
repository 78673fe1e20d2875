// What exchanges cost on one communicator, from a few measured ones.
//
// Model (Hockney with waves): an exchange of K messages and D blocks of n bytes in w dependent waves takes
//   w * wave + K * message + D * n * byte
// seconds. A wave is the time until others have answered: a network latency, or with more ranks than cores the time until
// every rank had its turn. Specification radix section 7 with the waves of Shoal's overlapped digits.
#pragma once

#include <cstdint>

namespace shoal {

// Seconds of uniform exchanges with blocks of small_block and of large_block bytes, the slowest rank's.
struct measured_exchanges {
  static constexpr std::int64_t small_block = 8;
  std::int64_t large_block = 32768;
  double native_small = 0, native_large = 0;
  double linear_small = 0, linear_large = 0;
  double radix_small = 0;  // tuna:radix=2
};

class calibration {
 public:
  calibration(int ranks, const measured_exchanges& seconds);

  // Predicted seconds for blocks of `block` bytes on average; `busiest` is what the busiest rank sends in all.
  double native(double block, double busiest) const;
  double linear(double block, double busiest) const;
  double radix(int radix, double block) const;

 private:
  double wave_, message_, byte_, native_byte_;
  int ranks_;
  measured_exchanges seconds_;
};

}  // namespace shoal
