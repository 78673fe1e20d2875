// Counts what C++ code of this program allocates: tests and Shoal, not the MPI library.
#pragma once

#include <cstdint>

namespace shoal {

std::int64_t allocations();      // so far, of all threads
std::int64_t allocated_bytes();  // now

}  // namespace shoal
