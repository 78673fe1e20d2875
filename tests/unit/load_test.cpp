#include "model/load.hpp"

#include <gtest/gtest.h>

#include "topology/layout_tree.hpp"

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

TEST(load, counts_what_messages_of_several_blocks_copy) {
  // 8 ranks, radix 2: 3 messages of 4 blocks, 7 of which arrive.
  EXPECT_EQ(load("tuna:radix=2", "1x8").copied_blocks, 12 + 7);
  EXPECT_EQ(load("pairwise", "1x8").copied_blocks, 0);
}

TEST(load, needs_a_schedule) {
  EXPECT_THROW(load("native", "1x8"), std::invalid_argument);
  EXPECT_THROW(load("tuna:radices=2", "1x8"), std::invalid_argument);
}

}  // namespace
}  // namespace shoal
