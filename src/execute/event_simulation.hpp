// An exchange in simulated time, operation by operation of every rank, from a list of events: messages queue, first come
// first served, at each link on their way. An event costs the same however many messages are under way, where a
// simulator that shares links out among them solves for all of them anew; so 16,384 ranks with all their messages under
// way take minutes. LogGP's costs of a message, with a network instead of its latency.
#pragma once

#include <cstdint>
#include <vector>

#include "algorithms/algorithm.hpp"

namespace shoal {

// Seconds. Messages pass from link to link before all of them has arrived (cut-through).
struct event_machine {
  double per_message = 0, per_message_byte = 0;  // of a rank's time, at each end
  double node_latency = 0, node_per_byte = 0;    // inside a node, where pairs of ranks do not disturb each other
  double link_latency = 0;
  std::vector<double> link_per_byte;  // by link
  int nodes = 0;
  std::vector<std::vector<std::int32_t>> paths;  // the links from node a to node b, at a * nodes + b
};

// Seconds until the last rank has ended, for equal blocks of so many bytes. A send ends when its message has left the
// rank. Throws std::invalid_argument where schedules differ in more than the names of ranks (algorithm::alike), or the
// machine has too few nodes.
double simulate_events(const selection& chosen, const problem& at, double block_bytes, const event_machine& machine);

}  // namespace shoal
