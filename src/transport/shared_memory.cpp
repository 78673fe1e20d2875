#include "transport/shared_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <string>
#include <system_error>
#include <utility>

#include "transport/process_memory.hpp"

namespace shoal {

namespace {

[[noreturn]] void fail(int error, const char* what) {
  throw std::system_error(error ? error : EIO, std::generic_category(), what);
}

// Whether a file of this size is beyond the process's limit: growing a file beyond it ends the process by a signal.
bool beyond_file_limit(std::size_t bytes) {
  rlimit limit{};
  return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && bytes > limit.rlim_cur;
}

// Tries again if a timer of the program has interrupted the call.
int allocate(int descriptor, std::size_t bytes) {
  int error = 0;
  do error = posix_fallocate(descriptor, 0, static_cast<off_t>(bytes));
  while (error == EINTR);
  return error;
}

}  // namespace

shared_memory::shared_memory(int descriptor, std::size_t bytes) : bytes_(bytes + proof_bytes) {
  key_ = {getpid(), descriptor, 0};
  void* const at = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (at == MAP_FAILED) {
    const int error = errno;
    close();
    fail(error, "mmap");
  }
  begin_ = static_cast<std::byte*>(at);
}

shared_memory::~shared_memory() { unmap(); }

shared_memory::shared_memory(shared_memory&& other) noexcept { *this = std::move(other); }

shared_memory& shared_memory::operator=(shared_memory&& other) noexcept {
  unmap();
  key_ = std::exchange(other.key_, {});
  begin_ = std::exchange(other.begin_, nullptr);
  bytes_ = other.bytes_;
  return *this;
}

shared_memory shared_memory::create(std::size_t bytes) {
  if (beyond_file_limit(bytes + proof_bytes)) fail(EFBIG, "shared memory");
  const int descriptor = memfd_create("shoal", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (descriptor < 0) fail(errno, "memfd_create");
  const int error = allocate(descriptor, bytes + proof_bytes);
  if (error || fcntl(descriptor, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    const int why = error ? error : errno;
    ::close(descriptor);
    fail(why, "shared memory");
  }
  shared_memory memory(descriptor, bytes);
  memory.key_.proof = random_proof();
  if (memory.key_.proof == 0) fail(errno, "getrandom");
  memory.key_.begin = memory.begin_;
  std::memcpy(memory.begin_, &memory.key_.proof, sizeof memory.key_.proof);
  return memory;
}

shared_memory shared_memory::open(const key& where, std::size_t bytes) {
  const std::string path = "/proc/" + std::to_string(where.process) + "/fd/" + std::to_string(where.descriptor);
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) fail(errno, "open");
  struct stat found{};
  const bool same_size = fstat(descriptor, &found) == 0 && S_ISREG(found.st_mode) &&
                         static_cast<std::size_t>(found.st_size) == bytes + proof_bytes;
  if (!same_size) {
    ::close(descriptor);
    fail(ENXIO, "shared memory");
  }
  shared_memory memory(descriptor, bytes);
  memory.close();
  if (std::memcmp(memory.begin_, &where.proof, sizeof where.proof) != 0) fail(ENXIO, "shared memory");
  return memory;
}

void shared_memory::clear_part(std::size_t part, std::size_t parts) {
  constexpr std::size_t page = 4096;
  if (bytes_ > small) return;
  const std::size_t share = (bytes_ / parts + page - 1) / page * page, end = std::min(bytes_, (part + 1) * share);
  for (std::size_t at = part * share; at < end; at += page)
    std::atomic_ref(*reinterpret_cast<std::uint32_t*>(begin_ + at)).fetch_or(0, std::memory_order_relaxed);
}

void shared_memory::close() {
  if (key_.descriptor >= 0) ::close(static_cast<int>(key_.descriptor));
  key_.descriptor = -1;
}

void shared_memory::unmap() {
  close();
  if (begin_) munmap(begin_, bytes_);
  begin_ = nullptr;
}

}  // namespace shoal
