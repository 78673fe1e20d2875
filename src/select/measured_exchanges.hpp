// What exchanges cost on one communicator, from a few measured ones.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "select/features.hpp"

namespace shoal {

// Exchanges of equal blocks and, of MPI_Alltoallv, mostly empty ones (select/sparse_pattern.hpp).
struct measured_exchanges {
  struct point {
    std::int64_t block = 0;       // bytes
    std::vector<double> seconds;  // of each spec, the slowest rank's
  };
  std::vector<std::string> specs;
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

}  // namespace shoal
