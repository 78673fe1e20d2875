// What allgathers between two groups take on a network: by what stands beside each generator (algorithm::cost,
// network, on_network). Beside the paper's: docs/papers/intergroup-allgather.md. Tests hold the costs against schedules.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/algorithm.hpp"

namespace shoal {

// The algorithm must not refuse the problem.
intergroup_cost cost_of(const selection& chosen, const problem& at);
double seconds_of(const selection& chosen, const problem& at, double bytes, const link_cost& link);

struct intergroup_prediction {
  std::string spec;
  double seconds = 0;
};

// Candidates for messages of this many bytes (the largest, where they differ), fastest first. `network` is one that an
// algorithm of the table is made for, as in torus:4x8 with the rows of the senders first. Throws std::invalid_argument
// for another network, a shape that does not fit the groups, or groups without a rank.
std::vector<intergroup_prediction> predict_intergroup(const problem& at, std::string_view network, double bytes,
                                                      const link_cost& link,
                                                      std::span<const algorithm> table = algorithms());
// A schedule that serves any two groups that fit the network. Throws std::invalid_argument for a text that names none.
selection schedule_of(std::string_view network, std::span<const algorithm> table = algorithms());

}  // namespace shoal
