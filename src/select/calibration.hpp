// What exchanges cost on one communicator, from a few measured ones.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/hockney.hpp"
#include "select/features.hpp"

namespace shoal {

// Exchanges of equal blocks and, of MPI_Alltoallv, mostly empty ones (select/sparse_pattern.hpp).
struct measured_exchanges {
  struct point {
    std::int64_t block = 0;       // bytes
    std::vector<double> seconds;  // of each spec, the slowest rank's
  };
  // The MPI's own, and the two that tell the model's parameters; what the model proposes comes behind them.
  std::vector<std::string> specs{"native", "spread_out", "tuna:radix=2"};
  static constexpr std::size_t native = 0, straight = 1, radix_two = 2;
  std::vector<point> points;  // two or more, ascending by block
  std::vector<point> sparse;  // two or more, or none; the block is that of ranks that have one for each other
  double full_share = 1;      // of blocks that are not empty in the sparse ones
  double asking = 0;          // seconds of one agreement on sizes
  std::string source = "measured";

  // Between the measured blocks and beyond them: along straight lines through neighbours. For a share of full blocks
  // between those measured: on the straight line between the two, as messages and bytes are. Where nothing sparse was
  // measured: as equal blocks with as many bytes.
  double seconds(std::size_t spec, const block_mix& blocks) const;
  // All that were measured.
  std::vector<block_mix> mixes() const;
  // The same without what was measured of one spec.
  measured_exchanges without(const std::string& spec) const;
};

// The model's parameters that explain the measured exchanges of Shoal's own, from the smallest and the largest blocks.
// The latency is the time until others have answered: a network's, or with more ranks than cores the time until every
// rank had its turn.
hockney fit(int ranks, const measured_exchanges& measured);

// The best digit systems by that model, for each of these blocks, that were not measured.
std::vector<std::string> worth_measuring(int ranks, const measured_exchanges& measured,
                                         const std::vector<std::int64_t>& blocks);

}  // namespace shoal
