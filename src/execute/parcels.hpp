// Blocks under way whose receivers do not expect them. A parcel holds the origin, destination and size of a block, and
// the block itself if it is small.
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

  // Blocks of up to `most_inside` bytes travel inside their parcels. The number is the same on every rank.
  explicit parcels(std::size_t most_inside) : most_inside_(most_inside) { clear(); }
  std::size_t most_inside() const { return most_inside_; }

  bool holds(std::uint64_t bytes) const { return bytes <= most_inside_; }
  // `block` is not looked at if the parcel is not to hold it.
  void add(const label& what, const std::byte* block) {
    const std::size_t inside = holds(what.bytes) ? what.bytes : 0;
    std::byte* const to = grow(sizeof what + inside);
    std::memcpy(to, &what, sizeof what);
    if (inside > 0) std::memcpy(to + sizeof what, block, inside);
  }
  // Adds all parcels of `others`.
  void add(const parcels& others) {
    const std::size_t bytes = others.bytes_.size() - front;
    if (bytes > 0) std::memcpy(grow(bytes), others.bytes_.data() + front, bytes);
  }
  void clear() { bytes_.assign(front, std::byte{}); }

  // Calls take(label, block, parcel) for each parcel. `parcel` is where the label lies, and behind it the block if the
  // parcel holds it.
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
  // The bytes of the parcel with this label.
  std::size_t bytes_of(const label& what) const { return sizeof what + (holds(what.bytes) ? what.bytes : 0); }
  // Makes room for so many more bytes at the end, and returns where they begin.
  std::byte* grow(std::size_t bytes) {
    bytes_.resize(bytes_.size() + bytes);
    return bytes_.data() + bytes_.size() - bytes;
  }

  // The parcels as one message. Its first `front` bytes are left free for what the router says of the message.
  static constexpr std::size_t front = 16;
  std::vector<std::byte>& message() { return bytes_; }

 private:
  std::size_t most_inside_;
  std::vector<std::byte> bytes_;
};

}  // namespace shoal
