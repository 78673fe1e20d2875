// What jobs try and what `shoal tune` measures, according to the table of algorithms.
#include <gtest/gtest.h>

#include <algorithm>

#include "algorithms/algorithm.hpp"
#include "topology/layout_tree.hpp"

namespace shoal {
namespace {

using specs = std::vector<std::string>;

specs tried(const char* layout, collective what = collective::alltoall) {
  return worth_trying(what, placed(layout_tree::parse(layout)));
}

specs measured(const char* layout, bool equal_blocks) {
  return worth_measuring(placed(layout_tree::parse(layout)), equal_blocks);
}

TEST(worth_trying, inside_a_node_is_what_goes_through_memory) {
  EXPECT_EQ(tried("1x8"), specs{"shared"});
  EXPECT_EQ(tried("1x8", collective::neighbor_alltoall), specs{"direct"});
}

TEST(worth_trying, between_nodes_begins_with_what_sends_fewest_messages_there) {
  EXPECT_EQ(tried("2x3"), (specs{"hierarchical:local=shared", "spread_out", "tuna:radix=2"}));
  EXPECT_EQ(tried("4x5"), (specs{"hierarchical:local=shared", "hierarchical:local=shared,carriers=1", "spread_out",
                                 "tuna:radix=2", "tuna:radix=4"}));
  EXPECT_EQ(tried("8x1"), (specs{"spread_out", "tuna:radix=2"}));
  EXPECT_EQ(tried("2x4", collective::neighbor_alltoall), (specs{"gathered", "direct"}));
  EXPECT_EQ(tried("8x1", collective::neighbor_alltoall), specs{"direct"});
}

TEST(worth_trying, leaves_out_carriers_whose_schedules_would_be_large) {
  const auto tries_a_carrier = [](const char* layout) {
    const specs all = tried(layout);
    return std::find(all.begin(), all.end(), "hierarchical:local=shared,carriers=1") != all.end();
  };
  EXPECT_TRUE(tries_a_carrier("32x32"));
  EXPECT_TRUE(tries_a_carrier("128x16"));
  EXPECT_FALSE(tries_a_carrier("64x32"));
  EXPECT_FALSE(tries_a_carrier("512x128"));
}

TEST(worth_measuring, is_more) {
  EXPECT_EQ(measured("1x4", false),
            (specs{"tuna:radix=2", "tuna:radix=3", "spread_out", "scattered:block_count=4", "shared", "pairwise"}));
  EXPECT_EQ(measured("2x2", true),
            (specs{"tuna:radix=2", "tuna:radix=3", "bruck:radix=2", "hierarchical", "hierarchical:radix=2",
                   "hierarchical:local=shared", "hierarchical:carriers=1", "hierarchical:local=shared,carriers=1",
                   "spread_out", "scattered:block_count=4", "pairwise"}));
}

}  // namespace
}  // namespace shoal
