// Memory that consists of runs of bytes in a few nested loops: the rows of a part of a matrix, a column, a part of a
// field. It stands for a datatype of MPI, and is copied without the MPI.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "execute/user_buffer.hpp"

namespace shoal {

class strided {
 public:
  static constexpr int most_loops = 4;

  // One run of bytes, from the address on.
  static strided run(std::int64_t bytes);

  // The same, but it begins so many bytes further on.
  strided moved(std::int64_t bytes) const;
  // The same `times` times, each `stride` bytes behind the one before. Nothing if that takes more loops than
  // most_loops.
  std::optional<strided> repeated(std::int64_t times, std::int64_t stride) const;

  std::int64_t begin() const { return begin_; }
  bool is_run() const { return loops_ == 0; }
  std::int64_t bytes() const;

  void pack(const std::byte* from, std::byte* out) const;
  void unpack(const std::byte* in, std::byte* to) const;

 private:
  struct loop {
    std::int64_t times, stride;  // bytes
  };
  template <typename Copy>
  void for_each_run(int depth, std::int64_t at, const Copy& copy) const;
  template <typename Copy>
  void visit(const Copy& copy) const;

  std::int64_t begin_ = 0, run_ = 0;
  int loops_ = 0;
  std::array<loop, most_loops> loop_{};  // the innermost first
};

}  // namespace shoal
