// What exchanges cost on one communicator, estimated from a few measured ones.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "select/features.hpp"

namespace shoal {

// Exchanges of equal blocks and, for MPI_Alltoallv, mostly empty ones (select/sparse_pattern.hpp).
struct measured_exchanges {
  struct point {
    std::int64_t block = 0;       // bytes
    std::vector<double> seconds;  // of each spec, on the slowest rank
  };
  std::vector<std::string> specs;
  std::vector<point> points;  // two or more, ascending by block
  std::vector<point> sparse;  // two or more, or none; `block` is the size of the blocks that are not empty
  double nonempty_share = 1;  // the share of blocks that are not empty in `sparse`
  double asking = 0;          // seconds of one agreement on sizes
  std::string source = "measured";

  // Between the measured blocks and above them, times lie on straight lines through neighbours, which are level if
  // times fall. Below the smallest block, times are those of the smallest. If the share of nonempty blocks lies between
  // those measured, the time lies on the straight line between the two, because messages and bytes do. If nothing
  // sparse was measured, the time is that of equal blocks with as many bytes in all.
  double seconds(std::size_t spec, const block_mix& blocks) const;
  // All mixes of blocks that were measured.
  std::vector<block_mix> mixes() const;
  // The same without the times of one spec.
  measured_exchanges without(const std::string& spec) const;
};

}  // namespace shoal
