// Allgather between two groups on a line: every message travels from rank to rank, up to the last.
//
// Source: a pipeline; an example, with a network of its own.
// Cost: p + q - 1 steps of one message.
// Applies: any two groups.
#include "algorithms/intergroup.hpp"

namespace shoal {

namespace {

// In each step a rank passes on the message that came in the step before. In its first step it sends its own.
schedule generate_line(const problem& at, int rank, const arguments&) {
  step_program out(at, rank);
  for (int message = 0; message < at.senders && message <= rank; ++message) {
    if (message < rank) out.receive(rank - message, rank - 1, {&message, 1});
    if (rank + 1 < at.ranks) out.send(rank - message + 1, rank + 1, {&message, 1});
  }
  return out.finish();
}

intergroup_cost line_cost(const problem& at, const arguments&) { return {at.ranks - 1, at.ranks - 1.0}; }

}  // namespace

std::vector<algorithm> line_family() {
  algorithm a =
      intergroup_entry("line", "every message from rank to rank, up to the last", "example", generate_line, line_cost);
  a.network = "line";
  return {a};
}

}  // namespace shoal
