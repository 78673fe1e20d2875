// Follows the schedules of all ranks step by step, as published algorithms are described: in a step every rank sends
// one message at most and receives one at most, and sends only what it held before the step.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "schedule/checker.hpp"

namespace shoal {

struct step_transfer {
  int step, from, to;
  std::vector<block_name> blocks;
};

enum class step_fault_kind {
  unmatched,       // a send without its receive or the reverse, or the two have different numbers of blocks
  other_step,      // the two ends of a message name different steps
  not_available,   // a message carries a block that its sender does not hold before the step
  two_sends,       // a rank sends two messages in a step
  two_receives,    // a rank receives two messages in a step
  not_neighbours,  // the network has no link between the two ranks
};
const char* to_string(step_fault_kind kind);

struct step_fault {
  step_fault_kind kind;
  int step, rank;
  std::string text;
};

struct step_report {
  std::optional<step_fault> fault;       // the first fault found; the rest of the report then means nothing
  int steps = 0;                         // the last step in which anything moves
  std::int64_t volume = 0;               // sum over the steps of the largest message, in blocks
  std::int64_t traffic = 0;              // sum over all messages, in blocks
  std::vector<step_transfer> transfers;  // by step, sender, receiver
};

// Whether two ranks have a link. If no function is given, all have.
using neighbour_test = std::function<bool(int, int)>;
neighbour_test ring_neighbours(int ranks);
// Ranks in row-major order.
neighbour_test torus_neighbours(std::vector<int> shape);

// `programs`: the schedules of ranks 0..P-1 in order. They may not copy blocks: copies are not followed. If blocks are
// cut into parts, each part counts as a block.
step_report follow_steps(std::span<const schedule> programs, const meaning& collective,
                         const neighbour_test& linked = {});

}  // namespace shoal
