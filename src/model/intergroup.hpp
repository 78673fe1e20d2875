// What allgathers between two groups cost, what none can undercut, and which to take on a network.
// Beside the paper's: docs/papers/intergroup-allgather.md. Every formula is asserted against generated schedules.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/algorithm.hpp"

namespace shoal {

// Volume is the sum over the steps of the largest transfer, in messages.
struct intergroup_cost {
  std::int64_t steps = 0;
  double volume = 0;
};

// ---- lower bounds for p senders and q receivers ----------------------------------------------------------------
// A receiver takes in p messages through one port.
constexpr int least_volume(int p, int /*q*/) { return p; }
// Fully connected. Not always attainable: p = q = 3 needs 3.
int least_rounds(int p, int q);
// Ring; exact.
int least_ring_steps(int p, int q);

// ---- costs -----------------------------------------------------------------------------------------------------
// Exact but for: circulant, volume at most; ring_paper with an odd number of ranks in a group, steps at most;
// root_gathering:broadcast=split, volume about. The algorithm must not refuse the problem.
intergroup_cost cost_of(const selection& chosen, const problem& at);
// All messages of the schedule `ring` without segments.
std::int64_t ring_traffic(int p, int q);

// ---- choice ----------------------------------------------------------------------------------------------------
// A step whose largest transfer has n bytes takes startup + n * per_byte seconds.
struct link_cost {
  double startup = 0, per_byte = 0;
};

// What a schedule takes for messages of this size. A paced one takes two messages' startups a step. One that is not
// is up to 1.3 times slower than its volume says, where messages are long (docs/measured/two-groups.md): so pacing is preferred
// while it costs less than 5 %.
double seconds_of(const selection& chosen, const problem& at, double bytes, const link_cost& link);

struct intergroup_prediction {
  std::string spec;
  intergroup_cost cost;
  double seconds = 0;
};

// Candidates for messages of this many bytes (the largest, where they differ), fastest first. `network` is "full",
// "ring" or "torus:4x8" with the rows of the senders first. Throws std::invalid_argument for another network, a
// shape that does not fit the groups, or groups without a rank.
std::vector<intergroup_prediction> predict_intergroup(const problem& at, std::string_view network, double bytes,
                                                      const link_cost& link);
// Throws std::invalid_argument for a text that names no network.
void check_network(std::string_view network);
// A schedule that serves any two groups that fit the network.
std::string plain_schedule(std::string_view network);
// One line: the first and why it is ahead of the second.
std::string explain(const std::vector<intergroup_prediction>& predictions);

}  // namespace shoal
