// What exchanges cost on one communicator, from a few measured ones.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/hockney.hpp"

namespace shoal {

// Exchanges of equal blocks.
struct measured_exchanges {
  struct point {
    std::int64_t block = 0;       // bytes
    std::vector<double> seconds;  // of each spec, the slowest rank's
  };
  // The MPI's own, and the two that tell the model's parameters; what the model proposes comes behind them.
  std::vector<std::string> specs{"native", "spread_out", "tuna:radix=2"};
  static constexpr std::size_t native = 0, straight = 1, radix_two = 2;
  std::vector<point> points;  // two or more, ascending by block
  double asking = 0;          // seconds of one agreement on sizes
  std::string source = "measured";

  // Between the measured blocks and beyond them: along straight lines through neighbours.
  double seconds(std::size_t spec, double block_bytes) const;
  // The same without what was measured of one spec.
  measured_exchanges without(const std::string& spec) const;
};

// The model's parameters that explain the measured exchanges of Shoal's own, from the smallest and the largest blocks.
// The latency is the time until others have answered: a network's, or with more ranks than cores the time until every
// rank had its turn.
hockney fit(int ranks, const measured_exchanges& measured);

// The best digit systems by that model, for each of the measured blocks, that were not measured yet.
std::vector<std::string> worth_measuring(int ranks, const measured_exchanges& measured);

}  // namespace shoal
