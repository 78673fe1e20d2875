#include "execute/memory_pool.hpp"

#include <algorithm>
#include <bit>
#include <new>

namespace shoal {

memory_pool::~memory_pool() {
  for (auto& buffers : free_)
    for (std::byte* buffer : buffers) ::operator delete(buffer);
}

void memory_pool::tally::add(int index) {
  ++taken_[index];
  ++buffers_;
  first_ = std::min(first_, index);
  last_ = std::max(last_, index);
}

// Clears only classes in use: exchanges of a microsecond take no buffers, and must not spend time here.
void memory_pool::tally::clear() {
  for (int index = first_; index <= last_; ++index) taken_[index] = 0;
  first_ = classes;
  last_ = -1;
  buffers_ = 0;
}

// Class 4k + j holds buffers of smallest * 2^k * (4 + j) / 4 bytes.
int memory_pool::class_of(std::size_t bytes) {
  if (bytes <= smallest) return 0;
  const int doublings = std::bit_width((bytes - 1) / smallest) - 1;
  const std::size_t quarter = (smallest << doublings) / 4;
  return doublings * 4 + static_cast<int>((bytes - (smallest << doublings) + quarter - 1) / quarter);
}

std::size_t memory_pool::class_bytes(int index) { return (smallest << (index / 4)) / 4 * (4 + index % 4); }

std::byte* memory_pool::take(std::size_t bytes) {
  const int index = class_of(bytes);
  const std::size_t size = class_bytes(index);
  last_take_[index] = ++takes_;
  std::byte* buffer;
  if (free_[index].empty()) {
    buffer = static_cast<std::byte*>(::operator new(size));
  } else {
    buffer = free_[index].back();
    free_[index].pop_back();
    kept_ -= size;
  }
  in_use_ += size;
  peak_ = std::max(peak_, in_use_);
  return buffer;
}

std::byte* memory_pool::take(std::size_t bytes, tally& counted) {
  counted.add(class_of(bytes));
  return take(bytes);
}

// Makes room to keep one more buffer of this class. False: no other class was unused for longer, or the buffer alone is
// larger than `keep_bytes`.
bool memory_pool::make_room(int index) noexcept {
  const std::size_t size = class_bytes(index);
  if (size > keep_bytes_) return false;
  while (kept_ + size > keep_bytes_) {
    const int other = longest_unused();
    if (last_take_[other] >= last_take_[index]) return false;
    for (auto& buffers = free_[other]; kept_ + size > keep_bytes_ && !buffers.empty(); buffers.pop_back()) {
      ::operator delete(buffers.back());
      kept_ -= class_bytes(other);
    }
  }
  return true;
}

// Looks only at classes with kept buffers.
int memory_pool::longest_unused() const {
  int found = -1;
  for (int index = 0; index < classes; ++index)
    if (!free_[index].empty() && (found < 0 || last_take_[index] < last_take_[found])) found = index;
  return found;
}

void memory_pool::give_back(std::byte* buffer, std::size_t bytes) noexcept {
  const int index = class_of(bytes);
  const std::size_t size = class_bytes(index);
  in_use_ -= size;
  if (!make_room(index)) return ::operator delete(buffer);
  try {
    free_[index].push_back(buffer);
    kept_ += size;
  } catch (const std::bad_alloc&) {
    ::operator delete(buffer);
  }
}

void memory_pool::make_ready(const tally& again) noexcept try {
  for (int index = again.first_; index <= again.last_; ++index) {
    const std::size_t wanted = again.taken_[index];
    if (free_[index].size() >= wanted) continue;
    free_[index].reserve(wanted);
    while (free_[index].size() < wanted && kept_ + class_bytes(index) <= keep_bytes_) {
      free_[index].push_back(static_cast<std::byte*>(::operator new(class_bytes(index))));
      kept_ += class_bytes(index);
    }
  }
} catch (const std::bad_alloc&) {
  // Then the next exchange allocates what it needs, and fails only if there is no memory for that.
}

}  // namespace shoal
