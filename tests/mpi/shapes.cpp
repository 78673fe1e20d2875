#include "shapes.hpp"

#include <cstddef>
#include <stdexcept>
#include <utility>

namespace shoal {

namespace {

using offsets = std::vector<std::int64_t>;

// The offsets of the bytes of copies of `base` that begin at these places.
offsets bytes_at(const shape& base, const offsets& places) {
  offsets all;
  for (std::int64_t place : places)
    for (std::int64_t byte : base.bytes()) all.push_back(place + byte);
  return all;
}

// A type that consists of copies of `base` at these places, which count in extents of `base`.
shape shape_at(const shape& base, MPI_Datatype type, offsets places) {
  for (std::int64_t& place : places) place *= base.extent();
  return {type, bytes_at(base, places)};
}

shape resized(shape of, std::int64_t lower, std::int64_t extent) {
  MPI_Datatype type;
  MPI_Type_create_resized(of.type(), lower, extent, &type);
  return {type, of.bytes()};
}

shape vector_of(const shape& base, int count, int length, int stride) {
  MPI_Datatype type;
  MPI_Type_vector(count, length, stride, base.type(), &type);
  offsets places;
  for (int i = 0; i < count; ++i)
    for (int j = 0; j < length; ++j) places.push_back(std::int64_t{i} * stride + j);
  return shape_at(base, type, places);
}

shape plain(const shape& base, int) { return {base.type(), base.bytes(), shape::ends::kept}; }

shape duplicate(const shape& base, int) {
  MPI_Datatype type;
  MPI_Type_dup(base.type(), &type);
  return shape_at(base, type, {0});
}

shape contiguous(const shape& base, int) {
  MPI_Datatype type;
  MPI_Type_contiguous(3, base.type(), &type);
  return shape_at(base, type, {0, 1, 2});
}

shape vector(const shape& base, int) { return vector_of(base, 2, 2, 3); }

// Without gaps, but with its scalars in another order than in memory.
shape reversed(const shape& base, int) {
  const int lengths[] = {1, 1, 1, 1}, places[] = {3, 2, 1, 0};
  MPI_Datatype type;
  MPI_Type_indexed(4, lengths, places, base.type(), &type);
  return shape_at(base, type, {3, 2, 1, 0});
}

shape with_gap(const shape& base, int) { return resized(plain(base, 0), 0, 2 * base.extent()); }

// A column of a matrix stored by rows: the next element begins one scalar further on, in the gaps of this one.
shape column(const shape& base, int columns) { return resized(vector_of(base, 4, 1, columns), 0, base.extent()); }

shape before_its_place(const shape& base, int) {
  const int lengths[] = {1, 1};
  const MPI_Aint places[] = {static_cast<MPI_Aint>(-2 * base.extent()), 0};
  MPI_Datatype type;
  MPI_Type_create_hindexed(2, lengths, places, base.type(), &type);
  return shape_at(base, type, {-2, 0});
}

shape low_bound(const shape& base, int) { return resized(plain(base, 0), -base.extent(), 3 * base.extent()); }

shape structure(const shape& base, int) {
  const int lengths[] = {1, 2};
  const MPI_Aint places[] = {0, static_cast<MPI_Aint>(2 * base.extent())};
  const MPI_Datatype types[] = {base.type(), base.type()};
  MPI_Datatype type;
  MPI_Type_create_struct(2, lengths, places, types, &type);
  return shape_at(base, type, {0, 2, 3});
}

// Rows 1 and 2, columns 0 and 1 of a matrix of 3 by 4.
shape subarray(const shape& base, int) {
  const int sizes[] = {3, 4}, part[] = {2, 2}, first[] = {1, 0};
  MPI_Datatype type;
  MPI_Type_create_subarray(2, sizes, part, first, MPI_ORDER_C, base.type(), &type);
  return shape_at(base, type, {4, 5, 8, 9});
}

shape nested(const shape& base, int) {
  const shape pair = vector_of(base, 2, 1, 2);
  MPI_Datatype type;
  MPI_Type_contiguous(2, pair.type(), &type);
  return shape_at(base, type, {0, 2, 3, 5});
}

struct record {
  double a;
  char b;
  short c;
};

shape record_shape() {
  const int lengths[] = {1, 1, 1};
  const MPI_Aint places[] = {offsetof(record, a), offsetof(record, b), offsetof(record, c)};
  const MPI_Datatype types[] = {MPI_DOUBLE, MPI_CHAR, MPI_SHORT};
  MPI_Datatype type;
  MPI_Type_create_struct(3, lengths, places, types, &type);
  return {type, {0, 1, 2, 3, 4, 5, 6, 7, offsetof(record, b), offsetof(record, c), offsetof(record, c) + 1}};
}

offsets counted(std::int64_t bytes) {
  offsets all;
  for (std::int64_t i = 0; i < bytes; ++i) all.push_back(i);
  return all;
}

}  // namespace

shape::shape(MPI_Datatype type, offsets bytes, ends with) : type_(type), with_(with), bytes_(std::move(bytes)) {
  if (with_ == ends::freed) MPI_Type_commit(&type_);
  MPI_Aint lower = 0, extent = 0;
  MPI_Type_get_extent(type_, &lower, &extent);
  extent_ = extent;
}

shape::~shape() {
  if (with_ == ends::freed) MPI_Type_free(&type_);
}

shape::shape(shape&& other) noexcept
    : type_(other.type_),
      with_(std::exchange(other.with_, ends::kept)),
      extent_(other.extent_),
      bytes_(std::move(other.bytes_)) {}

shape shape_of(scalar base) {
  constexpr auto kept = shape::ends::kept;
  switch (base) {
    case scalar::byte: return {MPI_BYTE, counted(1), kept};
    case scalar::integer: return {MPI_INT, counted(sizeof(int)), kept};
    case scalar::complex: return {MPI_C_DOUBLE_COMPLEX, counted(2 * sizeof(double)), kept};
    case scalar::pair: return {MPI_DOUBLE_INT, counted(sizeof(double) + sizeof(int)), kept};
    default: return resized(record_shape(), 0, sizeof(record));
  }
}

const std::vector<layout>& layouts() {
  static const std::vector<layout> all = {
      {"plain", 1, false, plain},           {"duplicate", 1, false, duplicate},
      {"contiguous", 3, false, contiguous}, {"vector", 4, false, vector},
      {"reversed", 4, false, reversed},     {"with gap", 1, false, with_gap},
      {"structure", 3, false, structure},   {"subarray", 4, false, subarray},
      {"nested", 4, false, nested},         {"column", 4, true, column},
      {"low bound", 1, true, low_bound},    {"before its place", 2, true, before_its_place},
  };
  return all;
}

const layout& layout_named(std::string_view name) {
  for (const layout& one : layouts())
    if (one.name == name) return one;
  throw std::invalid_argument("no such layout");
}

shape at_address(const shape& relative, const void* address) {
  MPI_Aint place;
  MPI_Get_address(address, &place);
  const int length = 1;
  MPI_Datatype moved;
  MPI_Type_create_hindexed(1, &length, &place, relative.type(), &moved);
  shape absolute(moved, bytes_at(relative, {place}));
  return resized(std::move(absolute), place, relative.extent());
}

}  // namespace shoal
