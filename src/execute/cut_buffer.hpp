// A user's buffer with its blocks cut into parts, for schedules that move parts (docs/decisions/0002).
#pragma once

#include <cstdint>
#include <vector>

#include "execute/memory_pool.hpp"
#include "execute/user_buffer.hpp"
#include "schedule/schedule.hpp"

namespace shoal {

// A part of a block is a part of its packed form. A block that is not plain memory cannot be packed part by part. So if
// there is one, all blocks are packed as wholes into memory of the pool, or unpacked from there.
class cut_buffer {
 public:
  explicit cut_buffer(memory_pool& pool) : pool_(pool) {}

  // Cuts the first `blocks` blocks as `plan` says. Part k of block i is block i * parts + k of the result, which is
  // valid until release().
  user_buffer cut(const user_buffer& whole, int blocks, const schedule& plan);
  // Copy between the user's memory and the packed form. They do nothing if the blocks are cut where they lie.
  void pack();
  void unpack();
  void release() { packed_ = {}; }
  // Called instead of release() if an abandoned transfer may use the packed form for ever: the memory is never freed.
  void abandon() { packed_.abandon(); }

 private:
  memory_pool& pool_;
  user_buffer whole_;
  int blocks_ = 0;
  bool packs_ = false;                                // whether some block is not plain memory
  pool_memory packed_;                                // the packed form
  std::vector<std::int64_t> counts_, displacements_;  // of parts, in bytes
};

}  // namespace shoal
