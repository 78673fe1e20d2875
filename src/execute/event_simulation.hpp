// Simulates an exchange by a queue of events, for every operation of every rank. At each link on their way messages
// queue, first come first served. An event costs the same however many messages are under way; a simulator that shares
// a link among messages has to solve for all of them at each event. So 16,384 ranks with all their messages under way
// take minutes. The costs of a message are those of LogGP, with a network in place of the latency.
#pragma once

#include <cstdint>
#include <vector>

#include "algorithms/algorithm.hpp"

namespace shoal {

// All times in seconds. A message goes on to the next link before all of it has arrived (cut-through).
struct event_machine {
  double per_message = 0, per_message_byte = 0;  // of a rank's time, at each end
  double node_latency = 0, node_per_byte = 0;    // inside a node, where pairs of ranks do not disturb each other
  double link_latency = 0;
  std::vector<double> link_per_byte;  // by link
  int nodes = 0;
  std::vector<std::vector<std::int32_t>> paths;  // the links from node a to node b, at a * nodes + b
};

// Seconds until the last rank has ended, for equal blocks of so many bytes. A send ends when its message has left the
// rank. Throws std::invalid_argument if schedules differ in more than the names of ranks (algorithm::alike), or if the
// machine has too few nodes.
double simulate_events(const selection& chosen, const problem& at, double block_bytes, const event_machine& machine);

}  // namespace shoal
