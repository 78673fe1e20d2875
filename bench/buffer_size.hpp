// How many bytes of a rank's buffers can be measured: as many as MPI counts with an int.
#pragma once

#include <cstdint>
#include <limits>
#include <stdexcept>

namespace shoal::bench {

// The bytes of a block, or of all blocks of a buffer. Throws std::invalid_argument if an int does not hold them.
inline int counted(std::int64_t bytes) {
  if (bytes < 0 || bytes > std::numeric_limits<int>::max())
    throw std::invalid_argument("blocks of more than 2 GiB in a rank's buffer cannot be measured");
  return static_cast<int>(bytes);
}

// The bytes of so many blocks of one size, in the same way.
inline int counted(std::int64_t size, std::int64_t blocks) { return counted(counted(size) * blocks); }

}  // namespace shoal::bench
