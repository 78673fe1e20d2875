// Memory of another process of the same user on this machine, copied from there by the kernel (cross-memory attach).
#pragma once

#include <cstddef>
#include <cstdint>

namespace shoal {

// A number that nothing else holds, to prove that the right memory is read. 0 if the system has none.
std::uint64_t random_proof();

// Returns 0, or the number of the error: the system does not allow it (containers, ptrace scopes), the process has
// ended, or it does not have all of that memory.
int read_process_memory(std::int64_t process, const std::byte* from, std::byte* to, std::size_t bytes);

}  // namespace shoal
