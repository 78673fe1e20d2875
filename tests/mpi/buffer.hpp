// One rank's buffer for an exchange, and what the exchange must do to every byte of it.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "shapes.hpp"

namespace shoal {

// One side of an exchange: its type, and where its blocks lie.
struct side {
  const layout* how = &layout_named("plain");
  std::uint32_t shuffled = 0;    // 0: blocks in order without gaps; else a seed: any order, gaps, displacements below 0
  bool at_bottom = false;        // MPI_BOTTOM with addresses in the type
  std::int64_t empty_count = 0;  // elements per block of a type of size zero, instead of `how`
  std::uint32_t each = 0;        // not 0: a seed that gives each block its own type, unusual only if `how` is
};

// The byte of the block from `origin` to `destination` that travels as number k.
std::byte content(int origin, int destination, std::int64_t k);

// Memory with guard bytes around, between and inside the blocks.
class buffer {
 public:
  buffer(const shape& base, const side& s, std::vector<std::int64_t> scalars);

  void* argument() { return side_.at_bottom ? MPI_BOTTOM : memory_.data() + origin_; }
  // type(): the type of all blocks, if they have one. types(): the type of each block otherwise.
  MPI_Datatype type() const { return types().front(); }
  std::vector<MPI_Datatype> types() const;
  const std::vector<std::int64_t>& counts() const { return counts_; }
  // In extents of the type, or in bytes if each block has its own type.
  std::vector<std::int64_t> displacements() const;

  void holds(int block, int from, int to) { write(memory_, block, from, to); }
  void shall_hold(int block, int from, int to) { write(expected_, block, from, to); }
  void shall_stay() { expected_ = memory_; }

  void check(const char* name) const;

 private:
  std::vector<int> order() const;
  void place_elements(const shape& base);
  void place_blocks(const shape& base);
  const layout& layout_of(int block) const;
  const shape& shape_of(int block) const { return shapes_[side_.each ? block : 0]; }
  void fill_memory(std::int64_t bytes);
  std::size_t offset_of(int block, std::int64_t k) const;
  std::int64_t bytes_of(int block) const {
    return counts_[block] * static_cast<std::int64_t>(shape_of(block).bytes().size());
  }
  void write(std::vector<std::byte>& memory, int block, int from, int to);
  std::string meaning_of(std::ptrdiff_t at) const;

  side side_;
  std::vector<std::int64_t> counts_;
  std::vector<shape> shapes_, absolute_;  // one, or one for each block
  std::vector<std::int64_t> begin_;       // of each block
  std::int64_t origin_ = 0;               // of displacements
  std::vector<std::byte> memory_, expected_;
};

}  // namespace shoal
