// How long allgathers between two groups take on a network, by the functions beside each generator (algorithm::cost,
// network, on_network). docs/papers/intergroup-allgather.md compares them with the paper's. Tests compare the costs
// with schedules.
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

// Predicts the candidates for messages of `bytes` bytes (the largest, if they differ), fastest first. `network` must be
// one that an algorithm of the table is made for, such as torus:4x8, where the rows of the senders come first. Throws
// std::invalid_argument for other networks, for a shape that does not fit the groups, and for groups without a rank.
std::vector<intergroup_prediction> predict_intergroup(const problem& at, std::string_view network, double bytes,
                                                      const link_cost& link,
                                                      std::span<const algorithm> table = algorithms());
// The algorithm for this network that serves any two groups that fit it. Throws std::invalid_argument if there is no
// such network.
selection schedule_of(std::string_view network, std::span<const algorithm> table = algorithms());

}  // namespace shoal
