// Block sizes on the wire: seven bits a byte, lowest first, so that the sizes of small blocks cost one byte.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>

namespace shoal {

constexpr std::size_t most_size_bytes = 9;  // for sizes below 2^63

inline std::byte* write_size(std::byte* out, std::uint64_t size) {
  for (; size >= 128; size >>= 7) *out++ = static_cast<std::byte>(size | 128);
  *out++ = static_cast<std::byte>(size);
  return out;
}

// Reads one size of a message that ends at `end`; returns what follows it.
inline const std::byte* read_size(const std::byte* in, const std::byte* end, std::uint64_t& size) {
  size = 0;
  for (int shift = 0; shift < 63 && in != end; shift += 7, ++in) {
    size |= (static_cast<std::uint64_t>(*in) & 127) << shift;
    if (static_cast<std::uint8_t>(*in) < 128) return in + 1;
  }
  throw std::runtime_error("a block size cannot be read; the peer may run another version of Shoal");
}

}  // namespace shoal
