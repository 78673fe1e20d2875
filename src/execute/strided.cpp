#include "execute/strided.hpp"

#include <cstring>
#include <type_traits>

namespace shoal {

namespace {

template <std::size_t Bytes>
void copy_run(std::byte* to, const std::byte* from, std::integral_constant<std::size_t, Bytes>) {
  std::memcpy(to, from, Bytes);
}
void copy_run(std::byte* to, const std::byte* from, std::size_t bytes) { copy_bytes(to, from, bytes); }

}  // namespace

strided strided::run(std::int64_t bytes) {
  strided all;
  all.run_ = bytes;
  return all;
}

strided strided::moved(std::int64_t bytes) const {
  strided all = *this;
  all.begin_ += bytes;
  return all;
}

// What lies directly one behind the other becomes one run, or one loop.
std::optional<strided> strided::repeated(std::int64_t times, std::int64_t stride) const {
  strided all = *this;
  if (times == 0 || run_ == 0) return run(0);
  if (times == 1) return all;
  if (loops_ == 0 && stride == run_) {
    all.run_ *= times;
  } else if (loops_ > 0 && stride == loop_[loops_ - 1].times * loop_[loops_ - 1].stride) {
    all.loop_[loops_ - 1].times *= times;
  } else if (loops_ == most_loops) {
    return std::nullopt;
  } else {
    all.loop_[all.loops_++] = {times, stride};
  }
  return all;
}

std::int64_t strided::bytes() const {
  std::int64_t all = run_;
  for (int i = 0; i < loops_; ++i) all *= loop_[i].times;
  return all;
}

template <typename Copy>
void strided::for_each_run(int depth, std::int64_t at, const Copy& copy) const {
  if (depth == 0) return copy(at);
  const auto [times, stride] = loop_[depth - 1];
  if (depth == 1)
    for (std::int64_t i = 0; i < times; ++i) copy(at + i * stride);
  else
    for (std::int64_t i = 0; i < times; ++i) for_each_run(depth - 1, at + i * stride, copy);
}

// If the compiler knows the length of a run, as here for those of a scalar, an instruction or two move the run.
template <typename Copy>
void strided::visit(const Copy& copy) const {
  const auto every = [&](auto bytes) { for_each_run(loops_, begin_, [&](std::int64_t at) { copy(at, bytes); }); };
  switch (run_) {
    case 0: return;
    case 4: return every(std::integral_constant<std::size_t, 4>());
    case 8: return every(std::integral_constant<std::size_t, 8>());
    case 16: return every(std::integral_constant<std::size_t, 16>());
    default: return every(static_cast<std::size_t>(run_));
  }
}

void strided::pack(const std::byte* from, std::byte* out) const {
  visit([&](std::int64_t at, auto bytes) {
    copy_run(out, from + at, bytes);
    out += bytes;
  });
}

void strided::unpack(const std::byte* in, std::byte* to) const {
  visit([&](std::int64_t at, auto bytes) {
    copy_run(to + at, in, bytes);
    in += bytes;
  });
}

}  // namespace shoal
