// A user's buffer with its blocks cut into parts, for schedules that move parts (docs/decisions/0002).
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "execute/memory_pool.hpp"
#include "execute/user_buffer.hpp"
#include "schedule/schedule.hpp"

namespace shoal {

// Parts are parts of the packed form. A block that is not plain memory cannot be packed in parts: where there is one all
// blocks are packed, or unpacked, as a whole in memory of the pool.
class cut_buffer {
 public:
  explicit cut_buffer(memory_pool& pool) : pool_(pool) {}
  ~cut_buffer() { release(); }
  cut_buffer(const cut_buffer&) = delete;
  cut_buffer& operator=(const cut_buffer&) = delete;

  // The first `blocks` blocks, as `plan` cuts them; part k of block i is block i * parts + k of the result, which is
  // good until release().
  user_buffer cut(const user_buffer& whole, int blocks, const schedule& plan);
  // Between the user's memory and the packed form, where that is another.
  void pack();
  void unpack();
  void release() {
    if (packed_) pool_.give_back(std::exchange(packed_, nullptr), bytes_);
  }
  // Instead, where a transfer that was abandoned may use it for ever.
  void abandon() { packed_ = nullptr; }

 private:
  memory_pool& pool_;
  user_buffer whole_;
  int blocks_ = 0;
  bool packs_ = false;                                // some block
  std::byte* packed_ = nullptr;                       // the packed form
  std::size_t bytes_ = 0;                             // of it
  std::vector<std::int64_t> counts_, displacements_;  // of parts, in bytes
};

}  // namespace shoal
