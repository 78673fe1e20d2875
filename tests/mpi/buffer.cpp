#include "buffer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

namespace shoal {

namespace {

constexpr std::int64_t margin = 64;

std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ (x >> 31)) * 0x9E3779B97F4A7C15u;
  return x ^ (x >> 29);
}

std::byte guard(std::size_t at) { return static_cast<std::byte>(mixed(at + 77777)); }

placement place(const std::vector<std::int64_t>& counts, std::uint32_t seed) {
  placement p;
  std::mt19937 random(seed);
  std::vector<int> order(counts.size());
  std::iota(order.begin(), order.end(), 0);
  if (seed) std::shuffle(order.begin(), order.end(), random);
  p.at.resize(counts.size());
  for (int i : order) {
    p.room += seed ? random() % 3 : 0;
    p.at[i] = p.room;
    p.room += counts[i];
  }
  if (seed) p.origin = p.room / 2 + 1;
  return p;
}

shape empty_shape() {
  MPI_Datatype type;
  MPI_Type_contiguous(0, MPI_INT, &type);
  return {type, {}};
}

}  // namespace

std::byte content(int origin, int destination, std::int64_t k) {
  const auto block = static_cast<std::uint64_t>(origin) << 20 | static_cast<std::uint64_t>(destination);
  return static_cast<std::byte>(mixed(mixed(block + 1) + static_cast<std::uint64_t>(k)));
}

buffer::buffer(const shape& base, const side& s, std::vector<std::int64_t> scalars) : side_(s) {
  for (std::int64_t n : scalars) counts_.push_back(s.empty_count ? s.empty_count : n / s.how->scalars);
  place_ = place(counts_, s.shuffled);
  const int columns = static_cast<int>(std::max<std::int64_t>(1, place_.room));
  shape_.emplace(s.empty_count ? empty_shape() : s.how->make(base, columns));
  make_memory();
  if (s.at_bottom) absolute_.emplace(at_address(*shape_, origin()));
}

std::vector<std::int64_t> buffer::displacements() const {
  std::vector<std::int64_t> all = place_.at;
  for (std::int64_t& d : all) d -= place_.origin;
  return all;
}

void buffer::check(const char* name) const {
  const auto at = std::mismatch(memory_.begin(), memory_.end(), expected_.begin()).first - memory_.begin();
  if (at == static_cast<std::ptrdiff_t>(memory_.size())) return;
  ADD_FAILURE() << "the " << name << " buffer, type " << (side_.empty_count ? "empty" : side_.how->name) << ", has "
                << static_cast<int>(memory_[at]) << " instead of " << static_cast<int>(expected_[at]) << " in byte "
                << at << " of " << memory_.size() << ": " << meaning_of(at);
}

void buffer::make_memory() {
  const auto& bytes = shape_->bytes();
  const std::int64_t low = bytes.empty() ? 0 : *std::min_element(bytes.begin(), bytes.end());
  const std::int64_t high = bytes.empty() ? 0 : *std::max_element(bytes.begin(), bytes.end());
  first_ = margin - low;
  memory_.resize(static_cast<std::size_t>(place_.room * shape_->extent() + high - low + 2 * margin));
  for (std::size_t i = 0; i < memory_.size(); ++i) memory_[i] = guard(i);
  expected_ = memory_;
}

std::size_t buffer::offset_of(int block, std::int64_t k) const {
  const auto& bytes = shape_->bytes();
  const auto size = static_cast<std::int64_t>(bytes.size());
  return static_cast<std::size_t>(first_ + (place_.at[block] + k / size) * shape_->extent() + bytes[k % size]);
}

void buffer::write(std::vector<std::byte>& memory, int block, int from, int to) {
  for (std::int64_t k = 0; k < bytes_of(block); ++k) memory[offset_of(block, k)] = content(from, to, k);
}

std::string buffer::meaning_of(std::ptrdiff_t at) const {
  for (std::size_t i = 0; i < counts_.size(); ++i)
    for (std::int64_t k = 0; k < bytes_of(static_cast<int>(i)); ++k)
      if (offset_of(static_cast<int>(i), k) == static_cast<std::size_t>(at))
        return "byte " + std::to_string(k) + " of block " + std::to_string(i);
  return "outside all blocks";
}

}  // namespace shoal
