#include "execute/event_simulation.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include "topology/layout_tree.hpp"

namespace shoal {
namespace {

// Each node has a link out and a link in.
event_machine one_switch(int nodes) {
  event_machine machine;
  machine.nodes = nodes;
  machine.link_per_byte.assign(2 * nodes, 0);
  for (int from = 0; from < nodes; ++from)
    for (int to = 0; to < nodes; ++to)
      machine.paths.push_back(from == to ? std::vector<std::int32_t>() : std::vector{2 * from, 2 * to + 1});
  return machine;
}

double seconds(const char* spec, const char* layout, double block, const event_machine& machine) {
  return simulate_events(parse_selection(spec), placed(layout_tree::parse(layout)), block, machine);
}

TEST(event_simulation, counts_messages_where_nothing_else_costs) {
  event_machine machine = one_switch(8);
  machine.per_message = 1;
  EXPECT_DOUBLE_EQ(seconds("spread_out", "8x1", 4, machine), 14);  // seven sent, seven received
  EXPECT_DOUBLE_EQ(seconds("tuna:radix=2", "8x1", 4, machine), 6);
  EXPECT_DOUBLE_EQ(seconds("scattered:block_count=1", "8x1", 4, machine), 14);
  EXPECT_DOUBLE_EQ(seconds("hierarchical:radix=2", "4x2", 4, machine), 2 + 6);
}

TEST(event_simulation, counts_latencies_of_messages_that_wait_for_each_other) {
  event_machine machine = one_switch(8);
  machine.link_latency = 1;
  machine.node_latency = 0.25;
  EXPECT_DOUBLE_EQ(seconds("spread_out", "8x1", 4, machine), 2);  // two links
  EXPECT_DOUBLE_EQ(seconds("tuna:radix=2", "8x1", 4, machine), 6);
  EXPECT_DOUBLE_EQ(seconds("hierarchical", "2x2", 4, machine), 2.25);
}

// The 2 ranks of a node share its links. Each sends a block of 3 bytes to each of the 4 ranks of the other nodes, one
// after another. The first blocks are already on the second link while the last ones pass the first link.
TEST(event_simulation, queues_messages_at_links) {
  event_machine machine = one_switch(3);
  machine.link_per_byte.assign(6, 1);
  EXPECT_GE(seconds("spread_out", "3x2", 3, machine), 2 * 4 * 3);
  EXPECT_LE(seconds("spread_out", "3x2", 3, machine), 2 * 4 * 3 + 3 * 3);
  machine.node_per_byte = 1;
  EXPECT_DOUBLE_EQ(seconds("spread_out", "1x4", 3, machine), 3);  // pairs inside a node share no link
}

TEST(event_simulation, says_what_it_cannot_do) {
  EXPECT_THROW(seconds("hierarchical:carriers=1", "4x2", 1, one_switch(4)), std::invalid_argument);
  EXPECT_THROW(seconds("spread_out", "4x2", 1, one_switch(3)), std::invalid_argument);
}

}  // namespace
}  // namespace shoal
