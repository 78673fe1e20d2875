// Sizes that take turns on one communicator: ranks tell up to four alternating sizes apart without a message.
//
// No rank knows the sizes of the others, but all know the number of a call. Each rank looks for a period in its own
// sizes, and the ranks agree on the shortest period that all of them see.
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace shoal {

class size_pattern {
 public:
  static constexpr int longest = 4;  // the longest period, in calls

  // Counts a call in which this rank sends `bytes`, and returns a number for its place in the pattern: the same on
  // every rank, and the same for all calls at this place.
  std::uint64_t place_of_next(double bytes);
  // No longer counts the last call.
  void take_back() { --calls_; }
  // If sizes do not alternate, all calls have one place.
  bool alternates() const { return period_ > 1; }
  static std::uint64_t only_place() { return longest; }
  // Writes for each period of 1, 2, ... calls: 1 if the sizes of this rank do not repeat after it, else 0.
  void write(std::span<std::int64_t> no) const;
  // Takes the largest numbers of all ranks. Returns false if the sizes follow no pattern.
  bool agreed(std::span<const std::int64_t> no);

 private:
  bool repeats(int period) const;

  static constexpr int remembered = 16;
  std::array<float, remembered> last_{};
  std::int64_t calls_ = 0;
  int period_ = 1;
};

}  // namespace shoal
