#include "buffer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <utility>

namespace shoal {

namespace {

constexpr std::int64_t margin = 64;

std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ (x >> 31)) * 0x9E3779B97F4A7C15u;
  return x ^ (x >> 29);
}

std::byte guard(std::size_t at) { return static_cast<std::byte>(mixed(at + 77777)); }

shape empty_shape() {
  MPI_Datatype type;
  MPI_Type_contiguous(0, MPI_INT, &type);
  return {type, {}};
}

// The lowest and the highest byte of an element.
std::pair<std::int64_t, std::int64_t> reach(const shape& of) {
  const auto& bytes = of.bytes();
  if (bytes.empty()) return {0, 0};
  const auto [low, high] = std::minmax_element(bytes.begin(), bytes.end());
  return {*low, *high};
}

}  // namespace

std::byte content(int origin, int destination, std::int64_t k) {
  const auto block = static_cast<std::uint64_t>(origin) << 20 | static_cast<std::uint64_t>(destination);
  return static_cast<std::byte>(mixed(mixed(block + 1) + static_cast<std::uint64_t>(k)));
}

buffer::buffer(const shape& base, const side& s, std::vector<std::int64_t> scalars) : side_(s) {
  for (int i = 0; i < static_cast<int>(scalars.size()); ++i)
    counts_.push_back(s.empty_count ? s.empty_count : scalars[i] / layout_of(i).scalars);
  begin_.resize(counts_.size());
  s.each ? place_blocks(base) : place_elements(base);
  if (!s.at_bottom) return;
  for (std::size_t i = 0; i < shapes_.size(); ++i)
    absolute_.push_back(at_address(shapes_[i], memory_.data() + (s.each ? begin_[i] : origin_)));
}

std::vector<MPI_Datatype> buffer::types() const {
  std::vector<MPI_Datatype> all;
  for (const shape& one : side_.at_bottom ? absolute_ : shapes_) all.push_back(one.type());
  return all;
}

std::vector<std::int64_t> buffer::displacements() const {
  std::vector<std::int64_t> all(begin_.size());
  for (std::size_t i = 0; i < all.size(); ++i)
    if (!side_.each) all[i] = (begin_[i] - origin_) / std::max<std::int64_t>(1, shapes_[0].extent());
    else if (!side_.at_bottom) all[i] = begin_[i] - origin_;
  return all;
}

void buffer::check(const char* name) const {
  const auto at = std::mismatch(memory_.begin(), memory_.end(), expected_.begin()).first - memory_.begin();
  if (at == static_cast<std::ptrdiff_t>(memory_.size())) return;
  ADD_FAILURE() << "the " << name << " buffer, type "
                << (side_.each          ? "of each block"
                    : side_.empty_count ? "empty"
                                        : side_.how->name)
                << ", has " << static_cast<int>(memory_[at]) << " instead of " << static_cast<int>(expected_[at])
                << " in byte " << at << " of " << memory_.size() << ": " << meaning_of(at);
}

const layout& buffer::layout_of(int block) const {
  if (!side_.each) return *side_.how;
  const std::size_t first = mixed(side_.each + static_cast<std::uint64_t>(block));
  for (std::size_t i = first;; ++i)
    if (const layout& one = layouts()[i % layouts().size()]; !one.unusual || side_.how->unusual) return one;
}

// The order of the blocks, from the lowest address on.
std::vector<int> buffer::order() const {
  std::vector<int> all(counts_.size());
  std::iota(all.begin(), all.end(), 0);
  if (side_.shuffled) std::shuffle(all.begin(), all.end(), std::mt19937(side_.shuffled));
  return all;
}

// Places blocks that have one type, by elements, perhaps with room for a few elements between blocks.
void buffer::place_elements(const shape& base) {
  std::mt19937 random(side_.shuffled + 1);
  std::vector<std::int64_t> at(counts_.size());
  std::int64_t room = 0;
  for (const int i : order()) {
    room += side_.shuffled ? random() % 3 : 0;
    at[i] = room;
    room += counts_[i];
  }
  const int columns = static_cast<int>(std::max<std::int64_t>(1, room));
  shapes_.push_back(side_.empty_count ? empty_shape() : side_.how->make(base, columns));
  const auto [low, high] = reach(shapes_[0]);
  const std::int64_t extent = shapes_[0].extent();
  for (std::size_t i = 0; i < at.size(); ++i) begin_[i] = margin - low + at[i] * extent;
  origin_ = margin - low + (side_.shuffled ? room / 2 + 1 : 0) * extent;
  fill_memory(room * extent + high - low + 2 * margin);
}

// Places blocks that have a type each, by bytes.
void buffer::place_blocks(const shape& base) {
  for (int i = 0; i < static_cast<int>(counts_.size()); ++i)
    shapes_.push_back(layout_of(i).make(base, static_cast<int>(std::max<std::int64_t>(1, counts_[i]))));
  std::int64_t end = margin;
  for (const int i : order()) {
    const auto [low, high] = reach(shapes_[i]);
    begin_[i] = end - low;
    end += counts_[i] * shapes_[i].extent() + high - low + side_.shuffled % 32;
  }
  origin_ = side_.shuffled ? end / 2 : 0;
  fill_memory(end + margin);
}

void buffer::fill_memory(std::int64_t bytes) {
  memory_.resize(static_cast<std::size_t>(bytes));
  for (std::size_t i = 0; i < memory_.size(); ++i) memory_[i] = guard(i);
  expected_ = memory_;
}

std::size_t buffer::offset_of(int block, std::int64_t k) const {
  const shape& of = shape_of(block);
  const auto size = static_cast<std::int64_t>(of.bytes().size());
  return static_cast<std::size_t>(begin_[block] + k / size * of.extent() + of.bytes()[k % size]);
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
