#include "model/load.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "schedule/neighbor_graph.hpp"
#include "topology/layout_tree.hpp"
#include "tree_inputs.hpp"

namespace shoal {
namespace {

problem placed(const char* layout) { return placed(layout_tree::parse(layout)); }

exchange_load load(const char* spec, const char* layout) { return load_of(parse_selection(spec), placed(layout)); }

TEST(load, is_what_closed_forms_say) {
  for (const char* spec :
       {"tuna:radix=2,inflight=1", "tuna:radix=80", "spread_out", "pairwise", "scattered:block_count=7"})
    for (const char* layout : {"1x2", "1x9", "1x16", "1x40"}) {
      SCOPED_TRACE(std::string(spec) + " on " + layout);
      const problem at = placed(layout);
      const selection chosen = parse_selection(spec);
      const auto closed = chosen.which->waves({1, at.ranks}, chosen.with).value();
      wave all;
      for (const wave& one : closed) {
        all.local_messages += one.local_messages;
        all.local += one.local;
      }
      const level_load counted = load_of(chosen, at).of(level::node);
      EXPECT_NEAR(static_cast<double>(counted.messages), all.local_messages, 1e-9);
      EXPECT_NEAR(static_cast<double>(counted.blocks), all.local, 1e-9);
      EXPECT_EQ(counted.waits, static_cast<std::int64_t>(closed.size()));
    }
}

TEST(load, tells_levels_apart) {
  const exchange_load flat = load("spread_out", "4x8");
  EXPECT_EQ(flat.of(level::node).messages, 7);
  EXPECT_EQ(flat.of(level::network).messages, 24);
  EXPECT_EQ(flat.of(level::network).blocks, 24 * 8);  // of all ranks of a node
  EXPECT_EQ(flat.of(level::memory).messages, 0);
  EXPECT_EQ(flat.copied_blocks, 0);
  const exchange_load shared = load("shared", "1x8");
  EXPECT_EQ(shared.of(level::memory).messages, 7);
  EXPECT_EQ(shared.of(level::node).messages + shared.of(level::network).messages, 0);
  problem apart;
  apart.ranks = 8;
  EXPECT_EQ(load_of(parse_selection("spread_out"), apart).of(level::network).messages, 7);
}

// Here not all nodes are looked at. The last ranks of a group send most messages to other groups.
TEST(load, looks_at_nodes_in_all_places_of_a_group) {
  EXPECT_EQ(load("tuna:radix=2", "group:8 node:8 core:4").of(level::groups).messages, 8);
}

TEST(load, tells_groups_apart) {
  const char* const layout = "group:2 node:4 socket:2 core:4";
  const exchange_load flat = load("spread_out", layout);
  EXPECT_EQ(flat.of(level::node).messages, 7);
  EXPECT_EQ(flat.of(level::network).messages, 24);
  EXPECT_EQ(flat.of(level::groups).messages, 32);
  EXPECT_EQ(flat.of(level::groups).blocks, 32 * 8);
  const exchange_load staged = load("hierarchical:local=linear", layout);
  EXPECT_EQ(staged.of(level::node).messages, 3 + 1);
  EXPECT_EQ(staged.of(level::network).messages, 3);
  EXPECT_EQ(staged.of(level::groups).messages, 1);
  EXPECT_EQ(staged.of(level::groups).blocks, 32 * 8);  // each block crosses between groups once, in fewer messages
  for (const char* without : {"node:4 socket:2 core:4", "plane:2 row:4 node:4", "4x8"})
    EXPECT_EQ(load("spread_out", without).of(level::groups).messages, 0) << without;
}

TEST(load, of_a_hierarchy_has_few_messages_between_nodes) {
  const exchange_load staged = load("hierarchical", "4x8"), flat = load("spread_out", "4x8");
  EXPECT_EQ(staged.of(level::network).messages, 3);
  EXPECT_EQ(staged.of(level::network).blocks, flat.of(level::network).blocks);
  EXPECT_GT(staged.of(level::node).blocks, flat.of(level::node).blocks);
  EXPECT_GT(staged.copied_blocks, 0);
  EXPECT_GT(load("hierarchical:local=shared", "4x8").of(level::memory).blocks, 0);
}

// The most blocks that leave a node in the schedules of its ranks.
std::int64_t most_leaving(const char* spec, const problem& at) {
  std::vector<std::int64_t> leaving(at.nodes->nodes());
  for (const schedule& program : generate_all(parse_selection(spec), at))
    for (const operation& op : program.operations)
      if (op.kind == op_kind::send && at.nodes->node_of(op.peer) != at.nodes->node_of(program.rank))
        leaving[at.nodes->node_of(program.rank)] += op.slot_count;
  return *std::max_element(leaving.begin(), leaving.end());
}

// The ranks of a node need not send alike. Beyond 64 ranks not all nodes are looked at.
TEST(load, counts_all_that_leaves_a_node) {
  for (const char* layout : {"8x8", "4x8", "4,1,3", "cyclic:3x4", "2,2,9", "16x8", "2x70", "1,1,70"})
    for (const char* spec : {"spread_out", "tuna:radix=2", "hierarchical", "hierarchical:carriers=1",
                             "hierarchical:local=shared,carriers=2"}) {
      SCOPED_TRACE(std::string(spec) + " on " + layout);
      const problem at = placed(layout);
      EXPECT_EQ(load_of(parse_selection(spec), at).of(level::network).blocks, most_leaving(spec, at));
    }
}

// What a carrier of a node gets from its ranks and what it hands on to them are two waits inside the node.
TEST(load, follows_chains_through_several_levels) {
  const exchange_load carried = load("hierarchical:local=linear,carriers=1", "4x8");
  EXPECT_EQ(carried.of(level::node).waits, 2);
  EXPECT_EQ(carried.of(level::network).waits, 1);
  EXPECT_EQ(load("hierarchical:local=linear", "4x8").of(level::node).waits, 1);
}

TEST(load, counts_what_messages_of_several_blocks_copy) {
  // 8 ranks, radix 2: 3 messages of 4 blocks, 7 of which arrive.
  EXPECT_EQ(load("tuna:radix=2", "1x8").copied_blocks, 12 + 7);
  EXPECT_EQ(load("pairwise", "1x8").copied_blocks, 0);
}

// The uniform algorithm moves all 8 blocks into scratch memory first. All 8 come back from it in the basic variant; in
// the other one 7 are unpacked into their places.
TEST(load, counts_copies) {
  EXPECT_EQ(load("bruck:radix=2", "1x8").copied_blocks, 8 + 12 + 7 + 1);
  EXPECT_EQ(load("bruck:radix=2,variant=basic", "1x8").copied_blocks, 8 + 12 + 8);
}

TEST(load, counts_blocks_in_parts_once) {
  problem at;
  at.ranks = 8;
  at.switches = std::make_shared<const switch_network>(one_switch(8));
  for (const char* spec : {"tree:parts=1", "tree:parts=2", "tree:parts=8"}) {
    EXPECT_EQ(load_of(parse_selection(spec), at).of(level::network).blocks, 7) << spec;
    EXPECT_EQ(load_of(parse_selection(spec), at).copied_blocks, 0) << spec;
  }
}

exchange_load load_among(const char* spec, const char* layout, std::vector<std::vector<int>> neighbors) {
  problem at = placed(layout);
  at.neighbors = std::make_shared<const neighbor_graph>(neighbor_graph::to(std::move(neighbors)));
  return load_of(parse_selection(spec, collective::neighbor_alltoall), at);
}

// Rank 0 sends to rank 3: to rank 1, which carries for its node, from there to rank 4, and on. No rank does what another
// does.
TEST(load, follows_a_block_from_neighbor_to_neighbor) {
  const exchange_load load = load_among("gathered", "3,3", {{3}, {}, {}, {}, {}, {}});
  EXPECT_EQ(load.of(level::memory).waits, 2);
  EXPECT_EQ(load.of(level::network).waits, 1);
  EXPECT_EQ(load.of(level::memory).messages, 1);
  EXPECT_EQ(load.of(level::network).blocks, 1);
  EXPECT_EQ(load.copied_blocks, 0);
}

TEST(load, among_neighbors_is_that_of_their_messages) {
  const exchange_load direct = load_among("direct", "2,2", {{1, 2, 3, 3}, {2, 3}, {}, {2}});
  EXPECT_EQ(direct.of(level::memory).messages, 1);
  EXPECT_EQ(direct.of(level::network).messages, 2);  // both blocks for rank 3 are one message
  EXPECT_EQ(direct.of(level::network).blocks, 5);    // of both ranks of the node
  EXPECT_EQ(direct.copied_blocks, 2);
  EXPECT_EQ(load_among("direct:local=messages", "2,2", {{1}, {}, {}, {}}).of(level::node).messages, 1);
  EXPECT_EQ(load_among("gathered:carriers=1", "2,2", {{1, 2, 3, 3}, {2, 3}, {}, {2}}).of(level::network).messages, 1);
}

TEST(load, needs_a_schedule) {
  EXPECT_THROW(load("native", "1x8"), std::invalid_argument);
  EXPECT_THROW(load("tuna:radices=2", "1x8"), std::invalid_argument);
}

}  // namespace
}  // namespace shoal
