// Memory of one process that others on the same machine map too. It has no name in any file system, so nothing of it
// outlives the processes that use it, however they end.
#pragma once

#include <cstddef>
#include <cstdint>

namespace shoal {

class shared_memory {
 public:
  // Where another process finds the memory, as long as its owner keeps it open.
  struct key {
    std::int64_t process = 0, descriptor = -1;
    std::uint64_t proof = 0;           // what the memory begins with; 0: there is none
    const std::byte* begin = nullptr;  // as the owner sees it
  };

  shared_memory() = default;
  ~shared_memory();
  shared_memory(shared_memory&& other) noexcept;
  shared_memory& operator=(shared_memory&& other) noexcept;

  // Zeros behind the proof. All of it is set aside now, so that using it later cannot fail. Throws std::system_error.
  static shared_memory create(std::size_t bytes);
  // Throws std::system_error, also where the key means something else to this process (another container or host).
  static shared_memory open(const key& where, std::size_t bytes);

  // The system clears a page for whoever uses it first. Of small memory each of those who share it has a part of the pages
  // cleared, before they use it: they would wait for each other there.
  void have_cleared(std::size_t part, std::size_t parts);

  const key& where() const { return key_; }
  // Nobody can open it any more; it stays mapped where it is.
  void close();

  // Behind the proof, aligned to a cache line.
  std::byte* data() const { return begin_ + proof_bytes; }

 private:
  static constexpr std::size_t proof_bytes = 64;
  static constexpr std::size_t small = std::size_t{1} << 20;  // all of it is going to be used
  shared_memory(int descriptor, std::size_t bytes);
  void unmap();

  key key_;
  std::byte* begin_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace shoal
