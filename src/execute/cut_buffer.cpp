#include "execute/cut_buffer.hpp"

namespace shoal {

user_buffer cut_buffer::cut(const user_buffer& whole, int blocks, const schedule& plan) {
  release();
  whole_ = whole;
  blocks_ = blocks;
  counts_.clear();
  displacements_.clear();
  packs_ = false;
  for (int i = 0; i < blocks; ++i) packs_ = packs_ || whole.packs(i);
  std::int64_t packed = 0;
  for (int i = 0; i < blocks; ++i) {
    const auto bytes = static_cast<std::int64_t>(whole.bytes(i));
    const std::int64_t block = packs_ ? packed : whole.offset(i);
    for (std::int64_t k = 0; k < plan.parts; ++k) {
      const std::int64_t begin = begin_of_part(plan, k, bytes);
      displacements_.push_back(block + begin);
      counts_.push_back(begin_of_part(plan, k + 1, bytes) - begin);
    }
    packed += bytes;
  }
  if (packs_) packed_ = pool_memory(pool_, static_cast<std::size_t>(packed));
  user_buffer result;
  result.base = packs_ ? packed_.data() : whole.base;
  result.counts = number_array(counts_.data());
  result.displacements = number_array(displacements_.data());
  return result;
}

void cut_buffer::pack() {
  std::byte* out = packed_.data();
  if (!out) return;
  for (int i = 0; i < blocks_; out += whole_.bytes(i++)) whole_.pack(i, out);
}

void cut_buffer::unpack() {
  const std::byte* in = packed_.data();
  if (!in) return;
  for (int i = 0; i < blocks_; in += whole_.bytes(i++)) whole_.unpack(i, in);
}

}  // namespace shoal
