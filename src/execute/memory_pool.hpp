// Scratch memory that is kept between exchanges, so that repeated calls do not allocate.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

namespace shoal {

// Pieces come in size classes, four per doubling, so at most a fifth of a large piece is unused. What is given
// back is reused; beyond `keep_bytes` it returns to the system.
class memory_pool {
 public:
  explicit memory_pool(std::size_t keep_bytes = std::size_t{64} << 20) : keep_bytes_(keep_bytes) {}
  ~memory_pool();
  memory_pool(const memory_pool&) = delete;
  memory_pool& operator=(const memory_pool&) = delete;

  // At least `bytes` bytes, aligned for any type. Throws std::bad_alloc.
  std::byte* take(std::size_t bytes);
  // `bytes` as given to take().
  void give_back(std::byte* piece, std::size_t bytes);

  std::size_t in_use() const { return in_use_; }
  std::size_t peak() const { return peak_; }

 private:
  static constexpr int classes = 256;
  static int class_of(std::size_t bytes);
  static std::size_t class_bytes(int index);

  std::array<std::vector<std::byte*>, classes> free_;
  std::size_t keep_bytes_;
  std::size_t kept_ = 0, in_use_ = 0, peak_ = 0;
};

}  // namespace shoal
