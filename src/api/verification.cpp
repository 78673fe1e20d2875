#include "api/verification.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace shoal {

std::vector<std::byte> packed(const user_buffer& buffer, int blocks) {
  std::size_t total = 0;
  for (int i = 0; i < blocks; ++i) total += buffer.bytes(i);
  std::vector<std::byte> all(total);
  std::byte* out = all.data();
  for (int i = 0; i < blocks; out += buffer.bytes(i++)) buffer.pack(i, out);
  return all;
}

void require_equal(const std::vector<std::byte>& ours, const std::vector<std::byte>& natives, int rank) {
  if (ours == natives) return;
  const auto at = std::mismatch(ours.begin(), ours.end(), natives.begin()).first - ours.begin();
  throw std::runtime_error("verification failed on rank " + std::to_string(rank) + ": received byte " +
                           std::to_string(at) + " of " + std::to_string(ours.size()) +
                           " differs from the MPI's own result; please report this");
}

}  // namespace shoal
