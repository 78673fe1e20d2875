// Counts what C++ code of this program allocates: tests and Shoal, not the MPI library.
#pragma once

#include <cstdint>

namespace shoal {

std::int64_t allocations();      // so far, of all threads
std::int64_t allocated_bytes();  // now

// While it lives, this thread has memory for so many more allocations.
class scarce_memory {
 public:
  explicit scarce_memory(int allocations);
  ~scarce_memory();
  scarce_memory(const scarce_memory&) = delete;
  scarce_memory& operator=(const scarce_memory&) = delete;
};

}  // namespace shoal
