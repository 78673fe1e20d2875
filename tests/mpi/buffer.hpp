// One rank's buffer for an exchange, and what the exchange must do to every byte of it.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "shapes.hpp"

namespace shoal {

// A type, and where blocks are.
struct side {
  const layout* how = &layout_named("plain");
  std::uint32_t shuffled = 0;    // 0: blocks in order without gaps; else a seed: any order, gaps, displacements below 0
  bool at_bottom = false;        // MPI_BOTTOM with addresses in the type
  std::int64_t empty_count = 0;  // elements per block of a type of size zero, instead of `how`
};

// The byte of the block from `origin` to `destination` that travels as number k.
std::byte content(int origin, int destination, std::int64_t k);

// Where blocks lie, in elements from the lowest one.
struct placement {
  std::vector<std::int64_t> at;
  std::int64_t room = 0;    // elements
  std::int64_t origin = 0;  // of displacements
};

// Memory with guards around, between and inside the blocks.
class buffer {
 public:
  buffer(const shape& base, const side& s, std::vector<std::int64_t> scalars);

  void* argument() { return absolute_ ? MPI_BOTTOM : origin(); }
  MPI_Datatype type() const { return absolute_ ? absolute_->type() : shape_->type(); }
  const std::vector<std::int64_t>& counts() const { return counts_; }
  std::vector<std::int64_t> displacements() const;

  void holds(int block, int from, int to) { write(memory_, block, from, to); }
  void shall_hold(int block, int from, int to) { write(expected_, block, from, to); }
  void shall_stay() { expected_ = memory_; }

  void check(const char* name) const;

 private:
  void make_memory();
  std::byte* origin() { return memory_.data() + first_ + place_.origin * shape_->extent(); }
  std::size_t offset_of(int block, std::int64_t k) const;
  std::int64_t bytes_of(int block) const { return counts_[block] * static_cast<std::int64_t>(shape_->bytes().size()); }
  void write(std::vector<std::byte>& memory, int block, int from, int to);
  std::string meaning_of(std::ptrdiff_t at) const;

  side side_;
  std::vector<std::int64_t> counts_;
  placement place_;
  std::optional<shape> shape_, absolute_;
  std::int64_t first_ = 0;  // where the lowest element begins
  std::vector<std::byte> memory_, expected_;
};

}  // namespace shoal
