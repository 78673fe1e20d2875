// What all ranks of two groups know about the sizes of an allgather before they choose its schedule.
#pragma once

#include <array>
#include <cstdint>

#include "transport/agree.hpp"

namespace shoal {

// In direction 0 the group sends whose ranks come first; in direction 1 the other. Bytes are those of packed messages.
struct direction_sizes {
  std::int64_t largest = 0, smallest = 0;
  // If a sender and a receiver mean different sizes, these sums differ, except by rare chance. sent_terms is the sum of
  // the senders' terms. Each receiver adds up the terms that it expects; the other two are the largest and the least
  // such sum.
  std::int64_t sent_terms = 0, most_expected = 0, least_expected = 0;

  bool uniform() const { return largest == smallest; }
};

struct group_sizes {
  std::array<direction_sizes, 2> toward;
  bool on_device = false;  // a rank's buffers are device memory
  bool invalid = false;    // a rank's arguments are wrong

  // Tells what this rank knows of a direction: as a sender its own size, as a receiver that of each sender, from 0 on.
  void sends(int direction, int sender, std::int64_t bytes);
  void expects(int direction, int sender, std::int64_t bytes);
  // Whether senders and receivers mean the same sizes, as MPI requires. To be called on what agree_on() returns.
  bool matching() const;
};

// Combines what every rank knows; all ranks get the same result. `sending`: the directions in which this rank sends.
group_sizes agree_on(const group_sizes& mine, std::array<bool, 2> sending, agreement& agree);

}  // namespace shoal
