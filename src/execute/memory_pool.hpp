// Scratch memory that is kept between exchanges, so that repeated calls do not allocate.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace shoal {

// Buffers come in size classes, four per doubling, so at most a fifth of a large buffer is unused. Buffers that are given
// back are kept and reused. Beyond `keep_bytes` they return to the system, first those of the class that nobody has
// taken from for the longest time.
class memory_pool {
  static constexpr int classes = 256;

 public:
  static constexpr std::int64_t smallest = 64;  // bytes of the smallest buffer
  // The most memory that buffers for `bytes` bytes in all take, if each of them is larger than the smallest.
  static constexpr std::int64_t with_unused(std::int64_t bytes) { return bytes + (bytes + 3) / 4; }

  // How many buffers of each class one user took, whether it gave them back in between or not.
  class tally {
   public:
    void clear();
    std::size_t buffers() const { return buffers_; }

   private:
    friend class memory_pool;
    void add(int index);

    std::array<std::uint32_t, classes> taken_{};
    int first_ = classes, last_ = -1;  // the first and the last class with buffers
    std::size_t buffers_ = 0;
  };

  explicit memory_pool(std::size_t keep_bytes = std::size_t{64} << 20) : keep_bytes_(keep_bytes) {}
  ~memory_pool();
  memory_pool(const memory_pool&) = delete;
  memory_pool& operator=(const memory_pool&) = delete;

  // At least `bytes` bytes, aligned for any type. Throws std::bad_alloc.
  std::byte* take(std::size_t bytes);
  std::byte* take(std::size_t bytes, tally& counted);
  // `bytes` as given to take().
  void give_back(std::byte* buffer, std::size_t bytes) noexcept;
  // To be called after the buffers are given back. Whoever takes the same buffers again, in any order and all at once,
  // then allocates nothing, as far as they fit into `keep_bytes` and there is memory.
  void make_ready(const tally& again) noexcept;

  std::size_t in_use() const { return in_use_; }
  std::size_t kept() const { return kept_; }
  std::size_t peak() const { return peak_; }

 private:
  static int class_of(std::size_t bytes);
  static std::size_t class_bytes(int index);
  bool make_room(int index) noexcept;
  int longest_unused() const;

  std::array<std::vector<std::byte*>, classes> free_;
  std::array<std::uint64_t, classes> last_take_{};  // the number of the last take() of each class
  std::uint64_t takes_ = 0;
  std::size_t keep_bytes_;
  std::size_t kept_ = 0, in_use_ = 0, peak_ = 0;
};

// A buffer that is given back by its last owner, or none.
class pool_memory {
 public:
  pool_memory() = default;
  pool_memory(memory_pool& pool, std::size_t bytes) : pool_(&pool), bytes_(bytes), data_(pool.take(bytes)) {}
  pool_memory(memory_pool& pool, std::size_t bytes, memory_pool::tally& counted)
      : pool_(&pool), bytes_(bytes), data_(pool.take(bytes, counted)) {}
  ~pool_memory() {
    if (data_) pool_->give_back(data_, bytes_);
  }
  pool_memory(pool_memory&& other) noexcept
      : pool_(other.pool_), bytes_(other.bytes_), data_(std::exchange(other.data_, nullptr)) {}
  pool_memory& operator=(pool_memory&& other) noexcept {
    pool_memory taken(std::move(other));
    std::swap(pool_, taken.pool_);
    std::swap(bytes_, taken.bytes_);
    std::swap(data_, taken.data_);
    return *this;
  }

  // Called if somebody may use the buffer for ever: it is never given back.
  void abandon() { data_ = nullptr; }

  explicit operator bool() const { return data_ != nullptr; }
  std::byte* data() const { return data_; }

 private:
  memory_pool* pool_ = nullptr;
  std::size_t bytes_ = 0;
  std::byte* data_ = nullptr;
};

}  // namespace shoal
