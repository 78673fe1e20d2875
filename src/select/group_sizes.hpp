// What all ranks of two groups know about the sizes of one allgather before they choose how to do it.
#pragma once

#include <array>
#include <cstdint>

#include "transport/agree.hpp"

namespace shoal {

// Direction 0: the group whose ranks come first sends; direction 1: the other one. Bytes are those of packed messages.
struct direction_sizes {
  std::int64_t largest = 0, smallest = 0;
  // Sums that differ where a sender and a receiver differ about a size, but for chance. Of senders: the sum of their
  // terms; of receivers: the sum of the terms they expect.
  std::int64_t sent_terms = 0, most_expected = 0, least_expected = 0;

  bool uniform() const { return largest == smallest; }
};

struct group_sizes {
  std::array<direction_sizes, 2> toward;
  bool on_device = false;  // a rank's buffers are device memory
  bool invalid = false;    // a rank's arguments are wrong

  // What a sender, or a receiver, knows of a direction.
  void sends(int direction, int sender, std::int64_t bytes);
  void expects(int direction, int sender, std::int64_t bytes);
  // What MPI requires: senders and receivers name the same sizes. After agree_on().
  bool matching() const;
};

// Turns this rank's view into everyone's. `most_expected` and `least_expected` are those of any receiver.
group_sizes agree_on(const group_sizes& mine, std::array<bool, 2> sending, agreement& agree);

}  // namespace shoal
