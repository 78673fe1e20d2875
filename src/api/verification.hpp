// Comparing what Shoal received with what the MPI's own collective receives.
#pragma once

#include <cstddef>
#include <vector>

#include "execute/user_buffer.hpp"

namespace shoal {

// The first blocks of a buffer as they travel, one after another.
std::vector<std::byte> packed(const user_buffer& buffer, int blocks);

// Throws std::runtime_error saying where they differ, if they do.
void require_equal(const std::vector<std::byte>& ours, const std::vector<std::byte>& natives, int rank);

}  // namespace shoal
