// Blocks whose receivers do not expect them, on their way: of each its origin, its destination and its size, and the
// block itself where it is small.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace shoal {

class parcels {
 public:
  struct label {
    std::int32_t origin, destination;
    std::uint64_t bytes;
  };

  // Blocks of up to `most_inside` bytes travel inside. The same on every rank.
  explicit parcels(std::size_t most_inside) : most_inside_(most_inside) { clear(); }
  std::size_t most_inside() const { return most_inside_; }

  bool holds(std::uint64_t bytes) const { return bytes <= most_inside_; }
  // `block` is not looked at where the parcel does not hold it.
  void add(const label& what, const std::byte* block) {
    const std::size_t inside = holds(what.bytes) ? what.bytes : 0;
    std::byte* const to = grow(sizeof what + inside);
    std::memcpy(to, &what, sizeof what);
    if (inside > 0) std::memcpy(to + sizeof what, block, inside);
  }
  // Of another rank's.
  void add(const parcels& others) {
    const std::size_t bytes = others.bytes_.size() - front;
    if (bytes > 0) std::memcpy(grow(bytes), others.bytes_.data() + front, bytes);
  }
  void clear() { bytes_.assign(front, std::byte{}); }

  // Calls take(label, block, parcel) for each: `parcel` is where its label and what is inside lie, one behind the other.
  template <typename Take>
  void each(Take take) const {
    for (std::size_t at = front; at < bytes_.size();) {
      label what;
      std::memcpy(&what, bytes_.data() + at, sizeof what);
      const std::byte* const parcel = bytes_.data() + at;
      take(what, parcel + sizeof what, parcel);
      at += bytes_of(what);
    }
  }
  // Of one parcel.
  std::size_t bytes_of(const label& what) const { return sizeof what + (holds(what.bytes) ? what.bytes : 0); }
  // Room for this number of bytes more, behind all.
  std::byte* grow(std::size_t bytes) {
    bytes_.resize(bytes_.size() + bytes);
    return bytes_.data() + bytes_.size() - bytes;
  }

  // The parcels as one message, which has room for what it says of itself in front.
  static constexpr std::size_t front = 16;
  std::vector<std::byte>& message() { return bytes_; }

 private:
  std::size_t most_inside_;
  std::vector<std::byte> bytes_;
};

}  // namespace shoal
