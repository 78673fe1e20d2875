// A user's buffers, for tests that move real data.
#pragma once

#include <algorithm>
#include <numeric>
#include <random>
#include <stdexcept>
#include <vector>

#include "execute/user_buffer.hpp"

namespace shoal::testing {

// Reverses the bytes of a block. Stands for any type whose packed form differs from its memory.
class reversing : public packer {
 public:
  void pack(const std::byte* block, std::int64_t count, std::byte* out) const override {
    std::reverse_copy(block, block + count, out);
  }
  void unpack(const std::byte* in, std::byte* block, std::int64_t count) const override {
    std::reverse_copy(in, in + count, block);
  }
};

// Stands for memory that cannot be packed.
class unreadable : public packer {
 public:
  void pack(const std::byte*, std::int64_t, std::byte*) const override { throw std::runtime_error("unreadable"); }
  void unpack(const std::byte*, std::byte*, std::int64_t) const override {}
};

// Lays blocks out, in order or shuffled, with gaps of guard bytes. Returns where each block begins, and makes `memory`
// for them.
inline std::vector<int> place_blocks(const std::vector<int>& counts, std::mt19937& random,
                                     std::vector<std::byte>& memory) {
  std::vector<int> order(counts.size()), at(counts.size());
  std::iota(order.begin(), order.end(), 0);
  if (random() % 2) std::shuffle(order.begin(), order.end(), random);
  int end = 0;
  for (int i : order) {
    end += static_cast<int>(random() % 2 * 3);
    at[i] = end;
    end += counts[i];
  }
  memory.assign(end + 3, std::byte{0xEE});
  return at;
}

inline user_buffer view(std::vector<std::byte>& memory, const std::vector<int>& counts, const std::vector<int>& at) {
  user_buffer b;
  b.base = memory.data();
  b.counts = number_array(counts.data());
  b.displacements = number_array(at.data());
  return b;
}

}  // namespace shoal::testing
