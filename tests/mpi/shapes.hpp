// Datatypes of which the tests know without MPI where every byte lies.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <string_view>
#include <vector>

namespace shoal {

// What a type's signature is made of. Sender and receiver of a block must agree on the scalars, not on the type.
enum class scalar { byte, integer, complex, pair, record };
constexpr scalar all_scalars[] = {scalar::byte, scalar::integer, scalar::complex, scalar::pair, scalar::record};

// One element of a type. bytes(): how far from the beginning of the element each byte lies, in the order of packing.
class shape {
 public:
  enum class ends { freed, kept };  // what the destructor does with the type
  shape(MPI_Datatype type, std::vector<std::int64_t> bytes, ends with = ends::freed);
  ~shape();
  shape(shape&& other) noexcept;
  shape& operator=(shape&&) = delete;

  MPI_Datatype type() const { return type_; }
  std::int64_t extent() const { return extent_; }
  const std::vector<std::int64_t>& bytes() const { return bytes_; }

 private:
  MPI_Datatype type_;
  ends with_;
  std::int64_t extent_;
  std::vector<std::int64_t> bytes_;
};

shape shape_of(scalar base);

// A way to place scalars in memory.
struct layout {
  std::string_view name;
  int scalars;   // of one element
  bool unusual;  // some MPI libraries get it wrong
  // `base` must outlive the shape. `columns`: how many elements side by side a buffer has room for.
  shape (*make)(const shape& base, int columns);
};

const std::vector<layout>& layouts();
const layout& layout_named(std::string_view name);

// Blocks with a multiple of so many scalars hold whole elements of any layout.
constexpr int common_scalars = 12;

// The same element at a fixed address, to be used with MPI_BOTTOM.
shape at_address(const shape& relative, const void* address);

}  // namespace shoal
