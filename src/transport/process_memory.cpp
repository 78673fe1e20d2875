#include "transport/process_memory.hpp"

#include <sys/random.h>
#include <sys/uio.h>

#include <cerrno>

namespace shoal {

std::uint64_t random_proof() {
  std::uint64_t number = 0;
  return getrandom(&number, sizeof number, 0) == sizeof number ? number | 1 : 0;
}

// The system moves at most 2 GiB in one call.
int read_process_memory(std::int64_t process, const std::byte* from, std::byte* to, std::size_t bytes) {
  while (bytes > 0) {
    const iovec here{to, bytes}, there{const_cast<std::byte*>(from), bytes};
    const ssize_t moved = process_vm_readv(static_cast<pid_t>(process), &here, 1, &there, 1, 0);
    if (moved <= 0) return moved < 0 ? errno : EFAULT;
    from += moved;
    to += moved;
    bytes -= static_cast<std::size_t>(moved);
  }
  return 0;
}

}  // namespace shoal
