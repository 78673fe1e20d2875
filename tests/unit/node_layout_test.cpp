#include "topology/node_layout.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <rapidcheck/gtest.h>
#include <set>
#include <stdexcept>

namespace shoal {
namespace {

using lists = std::vector<std::vector<int>>;

lists lists_of(const node_layout& nodes) {
  lists all;
  for (int n = 0; n < nodes.nodes(); ++n) all.emplace_back(nodes.ranks_of(n).begin(), nodes.ranks_of(n).end());
  return all;
}

lists parsed(const char* text) { return lists_of(node_layout::parse(text)); }

TEST(node_layout, reads_ranks_per_node) {
  EXPECT_EQ(parsed("4,4,3"), (lists{{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9, 10}}));
  EXPECT_EQ(parsed("5"), (lists{{0, 1, 2, 3, 4}}));
  EXPECT_EQ(parsed("2x3"), (lists{{0, 1, 2}, {3, 4, 5}}));
  EXPECT_EQ(parsed("3x1"), (lists{{0}, {1}, {2}}));
}

TEST(node_layout, deals_ranks_out_in_turn) {
  EXPECT_EQ(parsed("cyclic:3x4"), (lists{{0, 3, 6, 9}, {1, 4, 7, 10}, {2, 5, 8, 11}}));
  EXPECT_EQ(parsed("cyclic:1,3,2"), (lists{{0}, {1, 3, 5}, {2, 4}}));
}

TEST(node_layout, reads_the_ranks_of_each_node_in_the_order_given) {
  EXPECT_EQ(parsed("0,3,6/1,4/2,5"), (lists{{0, 3, 6}, {1, 4}, {2, 5}}));
  EXPECT_EQ(parsed("3,0,6/1/5,2,4"), (lists{{3, 0, 6}, {1}, {5, 2, 4}}));
}

TEST(node_layout, orders_nodes_by_their_smallest_rank) {
  const int nodes[] = {70, -3, 70, 5, -3};
  EXPECT_EQ(lists_of(node_layout::from_node_ids(nodes)), (lists{{0, 2}, {1, 4}, {3}}));
}

TEST(node_layout, numbers_virtual_ranks_node_by_node) {
  const auto nodes = node_layout::parse("cyclic:3,2,2");
  EXPECT_EQ(lists_of(nodes), (lists{{0, 3, 6}, {1, 4}, {2, 5}}));
  const std::vector<int> expected{0, 3, 5, 1, 4, 6, 2};
  for (int r = 0; r < 7; ++r) EXPECT_EQ(nodes.virtual_rank(r), expected[r]);
  EXPECT_EQ(nodes.largest_node(), 3);
}

TEST(node_layout, gives_blocks_of_equal_nodes_their_own_ranks) {
  const auto nodes = node_layout::parse("8x8");
  for (int r = 0; r < 64; ++r) EXPECT_EQ(nodes.virtual_rank(r), r);
  EXPECT_EQ(node_layout::one_rank_per_node(64), node_layout::parse("64x1"));
}

RC_GTEST_PROP(node_layout, finds_every_rank_again, ()) {
  const auto ids = *rc::gen::nonEmpty(rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 9)));
  const auto nodes = node_layout::from_node_ids(ids);
  const int ranks = static_cast<int>(ids.size());
  RC_ASSERT(nodes.ranks() == ranks);
  RC_ASSERT(nodes.nodes() == static_cast<int>(std::set<int>(ids.begin(), ids.end()).size()));
  int largest = 0;
  for (int n = 0; n < nodes.nodes(); ++n) {
    largest = std::max(largest, nodes.size_of(n));
    RC_ASSERT(std::is_sorted(nodes.ranks_of(n).begin(), nodes.ranks_of(n).end()));
  }
  RC_ASSERT(nodes.largest_node() == largest);
  for (int r = 0; r < ranks; ++r) {
    RC_ASSERT(nodes.ranks_of(nodes.node_of(r))[nodes.local_of(r)] == r);
    RC_ASSERT(nodes.rank_at(nodes.virtual_rank(r)) == r);
    RC_ASSERT(nodes.virtual_rank(r) == nodes.first_virtual(nodes.node_of(r)) + nodes.local_of(r));
    for (int s = 0; s < r; ++s) RC_ASSERT((nodes.node_of(r) == nodes.node_of(s)) == (ids[r] == ids[s]));
  }
}

std::string refusal(const char* text) {
  try {
    node_layout::parse(text);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "accepted";
}

// Every refusal names the text, what is wrong with it and what is allowed.
TEST(node_layout, says_what_is_wrong_with_a_text) {
  const std::string allowed =
      "; allowed: ranks per node (4,4,3), nodes x ranks per node (8x8), cyclic: before either (cyclic:3x4), "
      "the ranks of each node (0,3,6/1,4/2,5)";
  const std::pair<const char*, const char*> wrong[] = {
      {"", "'' is not a number of ranks (a whole number from 1 to 2097152)"},
      {"4,,3", "'' is not a number of ranks (a whole number from 1 to 2097152)"},
      {"4,0", "'0' is not a number of ranks (a whole number from 1 to 2097152)"},
      {"4,-1", "'-1' is not a number of ranks (a whole number from 1 to 2097152)"},
      {"4 4", "'4 4' is not a number of ranks (a whole number from 1 to 2097152)"},
      {"0x4", "'0' is not a number of nodes (a whole number from 1 to 2097152)"},
      {"4x", "'' is not a number of ranks (a whole number from 1 to 2097152)"},
      {"2x2x2", "'2x2x2' is not a number of ranks (a whole number from 1 to 2097152)"},
      {"cyclic:", "'' is not a number of ranks (a whole number from 1 to 2097152)"},
      {"cyclic:3,y", "'y' is not a number of ranks (a whole number from 1 to 2097152)"},
      {"block:4", "'block:4' is not a number of ranks (a whole number from 1 to 2097152)"},
      {"99999999999", "'99999999999' is not a number of ranks (a whole number from 1 to 2097152)"},
      {"2097152,1", "more than 2097152 ranks"},
      {"65536x65536", "more than 2097152 ranks"},
      {"0,1/", "'' is not a rank (a whole number from 0 to 2097152)"},
      {"0,a/1", "'a' is not a rank (a whole number from 0 to 2097152)"},
      {"0,1/1", "rank 1 is named twice"},
      {"0,1/3", "rank 3 is named but there are only 3 ranks, 0 to 2"},
  };
  for (const auto& [text, what] : wrong)
    EXPECT_EQ(refusal(text), "layout '" + std::string(text) + "': " + what + allowed);
}

TEST(node_layout, refuses_lists_that_are_no_placement) {
  EXPECT_THROW(node_layout::from_lists({}), std::invalid_argument);
  EXPECT_THROW(node_layout::from_lists({{0}, {}}), std::invalid_argument);
  EXPECT_THROW(node_layout::from_lists({{0}, {2}}), std::invalid_argument);
  EXPECT_THROW(node_layout::from_lists({{0, 0}}), std::invalid_argument);
  EXPECT_THROW(node_layout::from_lists({{0, -1}}), std::invalid_argument);
}

}  // namespace
}  // namespace shoal
