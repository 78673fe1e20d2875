// Counts what the C++ code of this program allocates (the tests and Shoal, not the MPI).
#pragma once

#include <cstdint>

namespace shoal {

std::int64_t allocations();      // so far, of all threads
std::int64_t allocated_bytes();  // now

// While this object lives, this thread has memory for only so many more allocations.
class scarce_memory {
 public:
  explicit scarce_memory(int allocations);
  ~scarce_memory();
  scarce_memory(const scarce_memory&) = delete;
  scarce_memory& operator=(const scarce_memory&) = delete;
};

}  // namespace shoal
