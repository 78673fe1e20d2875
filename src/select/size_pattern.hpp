// Sizes that follow each other in turn on one communicator: two or three patterns are told apart without a message.
//
// No rank knows the sizes of the others, but all know the number of a call. Each looks for a period in its own sizes, and the
// ranks agree on the shortest that all of them see.
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace shoal {

class size_pattern {
 public:
  static constexpr int longest = 4;  // calls after which sizes may repeat

  // Counts a call in which this rank sends so many bytes. Calls at the same place of the pattern have the same number, on
  // every rank.
  std::uint64_t place_of_next(double bytes);
  // The last call is counted no more.
  void take_back() { --calls_; }
  // Where sizes do not alternate all calls have one place.
  bool alternates() const { return period_ > 1; }
  static std::uint64_t only_place() { return longest; }
  // Of a period of 1, 2, ... calls: 1 where the sizes of this rank do not repeat after it, else 0.
  void write(std::span<std::int64_t> no) const;
  // The largest of all ranks'. False: sizes follow no pattern.
  bool agreed(std::span<const std::int64_t> no);

 private:
  bool repeats(int period) const;

  static constexpr int remembered = 16;
  std::array<float, remembered> last_{};
  std::int64_t calls_ = 0;
  int period_ = 1;
};

}  // namespace shoal
