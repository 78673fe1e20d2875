// The user's side of an exchange: where each block lies and how many bytes it has when packed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "transport/copy_bytes.hpp"

namespace shoal {

// Packs blocks whose type is not plain contiguous bytes. `count` is in elements of the type.
class packer {
 public:
  virtual ~packer() = default;
  virtual void pack(const std::byte* block, std::int64_t count, std::byte* out) const = 0;
  virtual void unpack(const std::byte* in, std::byte* block, std::int64_t count) const = 0;
};

// Counts or displacements as MPI gives them: one number for all (or multiples of one), an int array, or a 64-bit array.
class number_array {
 public:
  number_array() = default;
  explicit number_array(const int* values) : small_(values), is_list_(true) {}
  // Any 64-bit integers: MPI_Count and MPI_Aint are different types in different MPIs.
  template <typename Integer>
  explicit number_array(const Integer* values) : large_(reinterpret_cast<const std::byte*>(values)), is_list_(true) {
    static_assert(sizeof(Integer) == 8);
  }
  // value + step * i
  static number_array linear(std::int64_t value, std::int64_t step) {
    number_array a;
    a.value_ = value;
    a.step_ = step;
    return a;
  }
  // Whether there should be an array, but the pointer is null. Then all numbers are 0.
  bool is_missing() const { return is_list_ && !small_ && !large_; }
  // The array if it is one of ints, else null.
  const int* ints() const { return small_; }
  std::int64_t operator[](int i) const { return small_ ? small_[i] : large_ ? large(i) : value_ + step_ * i; }
  // Whether both are the same number, or the same array.
  bool is(const number_array& other) const {
    return small_ == other.small_ && large_ == other.large_ && value_ == other.value_ && step_ == other.step_;
  }

 private:
  std::int64_t large(int i) const {
    std::int64_t value;
    std::memcpy(&value, large_ + std::size_t{8} * i, 8);
    return value;
  }

  const int* small_ = nullptr;
  const std::byte* large_ = nullptr;
  std::int64_t value_ = 0, step_ = 0;
  bool is_list_ = false;
};

// What a block is made of.
struct element_type {
  std::int64_t size = 1;           // packed bytes of one element
  std::int64_t begin = 0;          // where the bytes are, from the element's address
  const packer* layout = nullptr;  // null: a block is contiguous bytes
};

struct user_buffer {
  std::byte* base = nullptr;
  number_array counts;                  // elements of each block
  number_array displacements;           // in units of `extent`
  std::int64_t extent = 1;              // bytes
  element_type type;                    // of all blocks, if `types` is null
  const element_type* types = nullptr;  // of each block

  const element_type& type_of(int i) const { return types ? types[i] : type; }
  // Whether the block has to be packed: its bytes do not simply lie in memory from block(i) on.
  bool packs(int i) const { return type_of(i).layout != nullptr; }
  std::size_t bytes(int i) const { return static_cast<std::size_t>(counts[i] * type_of(i).size); }
  std::int64_t offset(int i) const { return displacements[i] * extent + type_of(i).begin; }
  std::byte* block(int i) const { return base + offset(i); }

  void pack(int i, std::byte* out) const {
    if (const packer* const layout = type_of(i).layout) layout->pack(block(i), counts[i], out);
    else copy_bytes(out, block(i), bytes(i));
  }
  void unpack(int i, const std::byte* in) const {
    if (const packer* const layout = type_of(i).layout) layout->unpack(in, block(i), counts[i]);
    else copy_bytes(block(i), in, bytes(i));
  }
};

}  // namespace shoal
