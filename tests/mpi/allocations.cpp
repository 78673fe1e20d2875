#include "allocations.hpp"

#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<std::int64_t> count = 0, bytes = 0;
thread_local int left = -1;  // negative: any number

void require_some_left() {
  if (left == 0) throw std::bad_alloc();
  if (left > 0) --left;
}

void* counted(void* memory) {
  if (!memory) throw std::bad_alloc();
  ++count;
  bytes += static_cast<std::int64_t>(malloc_usable_size(memory));
  return memory;
}

void give_back(void* memory) {
  bytes -= static_cast<std::int64_t>(malloc_usable_size(memory));
  std::free(memory);
}

}  // namespace

void* operator new(std::size_t size) {
  require_some_left();
  return counted(std::malloc(size ? size : 1));
}
void* operator new(std::size_t size, std::align_val_t align) {
  require_some_left();
  const auto unit = static_cast<std::size_t>(align);
  return counted(std::aligned_alloc(unit, (size + unit - 1) / unit * unit));
}
void operator delete(void* memory) noexcept { give_back(memory); }
void operator delete(void* memory, std::size_t) noexcept { give_back(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { give_back(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { give_back(memory); }

namespace shoal {

std::int64_t allocations() { return count; }
std::int64_t allocated_bytes() { return bytes; }

scarce_memory::scarce_memory(int allocations) { left = allocations; }
scarce_memory::~scarce_memory() { left = -1; }

}  // namespace shoal
