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
    std::uint64_t proof = 0;           // the memory begins with this number; 0 if there is no memory
    const std::byte* begin = nullptr;  // the address in the owner
  };

  shared_memory() = default;
  ~shared_memory();
  shared_memory(shared_memory&& other) noexcept;
  shared_memory& operator=(shared_memory&& other) noexcept;

  // Makes memory of zeros behind a proof. All of it is set aside now, so that using it later cannot fail. Throws
  // std::system_error.
  static shared_memory create(std::size_t bytes);
  // Maps memory of another process. Throws std::system_error, also if the key means something else to this process (in
  // another container or on another host).
  static shared_memory open(const key& where, std::size_t bytes);

  // Has the system clear a part of the pages of small memory; it clears a page for whoever uses it first. Each process
  // that shares the memory has one part cleared before any of them uses it: in using it they would wait for each other.
  void clear_part(std::size_t part, std::size_t parts);

  const key& where() const { return key_; }
  // After this nobody can open the memory any more. It stays mapped where it is.
  void close();

  // Behind the proof, aligned to a cache line.
  std::byte* data() const { return begin_ + proof_bytes; }

 private:
  static constexpr std::size_t proof_bytes = 64;
  static constexpr std::size_t small = std::size_t{1} << 20;  // all of memory up to this size is going to be used
  shared_memory(int descriptor, std::size_t bytes);
  void unmap();

  key key_;
  std::byte* begin_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace shoal
