#include "topology/layout_tree.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace shoal {
namespace {

using numbers = std::vector<int>;

numbers members_of(const layout_tree& tree, int height, int virtual_rank, int inner = -1) {
  const auto begins = tree.members(inner < 0 ? height - 1 : inner, tree.group(height, virtual_rank));
  return {begins.begin(), begins.end()};
}

TEST(layout_tree, reads_levels_from_the_outside_in) {
  const auto tree = layout_tree::parse("group:2 node:3 socket:2 core:4");
  EXPECT_EQ(tree.ranks(), 48);
  EXPECT_EQ(tree.levels(), 4);
  EXPECT_EQ(tree.name(0), "core");
  EXPECT_EQ(tree.name(3), "group");
  EXPECT_EQ(tree.node_level(), 2);
  EXPECT_EQ(tree.group_level(), 3);
  EXPECT_EQ(layout_tree::parse("rack:2 node:2 group:2 core:1").group_level(),
            4);  // a group inside a node is something else
  EXPECT_EQ(tree.group(0, 29), (virtual_range{29, 1}));
  EXPECT_EQ(tree.group(1, 29), (virtual_range{28, 4}));   // its socket
  EXPECT_EQ(tree.group(2, 29), (virtual_range{24, 8}));   // its node
  EXPECT_EQ(tree.group(3, 29), (virtual_range{24, 24}));  // its group
  EXPECT_EQ(tree.group(4, 29), (virtual_range{0, 48}));
  EXPECT_EQ(members_of(tree, 2, 29), (numbers{24, 28, 32}));
  EXPECT_EQ(members_of(tree, 4, 29), (numbers{0, 24, 48}));
  EXPECT_EQ(tree.nodes(), node_layout::parse("6x8"));
  EXPECT_EQ(members_of(tree, 3, 29, 1), (numbers{24, 28, 32, 36, 40, 44, 48}));  // the sockets of its group
  EXPECT_EQ(tree.most_members(1, 2), 2);
  EXPECT_EQ(tree.most_members(1, 3), 6);
  EXPECT_EQ(tree.largest_group(3), 24);
}

TEST(layout_tree, reads_a_number_for_each_group) {
  const auto tree = layout_tree::parse("group:2 node:1,2 core:2,3,1 ranks:5,4,3,2,1,0");
  EXPECT_EQ(members_of(tree, 3, 0), (numbers{0, 2, 6}));
  EXPECT_EQ(members_of(tree, 2, 2), (numbers{2, 5, 6}));
  EXPECT_EQ(tree.nodes(), node_layout::parse("5,4/3,2,1/0"));
  EXPECT_EQ(tree.rank_at(0), 5);
  EXPECT_EQ(tree.virtual_rank(3), 2);
  EXPECT_EQ(tree.most_members(0, 1), 3);
  EXPECT_EQ(tree.largest_group(2), 4);
}

TEST(layout_tree, has_a_node_and_something_inside) {
  EXPECT_EQ(layout_tree::parse("socket:2 core:4"), layout_tree::parse("node:1 socket:2 core:4"));
  EXPECT_EQ(layout_tree::parse("plane:2 row:2 node:2"), layout_tree::parse("plane:2 row:2 node:2 core:1"));
  EXPECT_EQ(layout_tree::parse("core:8"), layout_tree::parse("8"));
  EXPECT_EQ(layout_tree::parse("node:8"), layout_tree(node_layout::one_rank_per_node(8)));
  EXPECT_EQ(layout_tree::parse("socket:2 core:4").nodes(), node_layout::parse("8"));
}

TEST(layout_tree, reads_what_node_layout_reads) {
  for (const char* text : {"8x8", "4,4,3", "cyclic:3x4", "0,3,6/1,4/2,5", "5"}) {
    EXPECT_EQ(layout_tree::parse(text).nodes(), node_layout::parse(text));
    EXPECT_EQ(to_string(layout_tree::parse(text)), to_string(node_layout::parse(text)));
  }
}

TEST(layout_tree, is_written_as_it_is_read) {
  for (const char* text : {"group:4 node:8 socket:2 core:8", "group:2 node:1,2 core:2,3,1 ranks:5,4,3,2,1,0", "2x4",
                           "1x1", "plane:2 row:2 node:2 core:1", "node:1 socket:2 core:3,4"})
    EXPECT_EQ(to_string(layout_tree::parse(text)), text);
  EXPECT_EQ(to_string(layout_tree::parse("  group:2  node:2,2 core:1 ")), "group:2 node:2 core:1");
  EXPECT_EQ(layout_tree::parse("node:3/core:2/ranks:0,5,1,4,2,3"), layout_tree::parse("0,5/1,4/2,3"));
}

TEST(layout_tree, is_found_from_what_ranks_share) {
  // Ranks 0 to 7 are on nodes 7 7 3 3 9 9 9 3. Nodes 7 and 9 are in rack 5, and node 3 is in rack 4.
  const auto tree = layout_tree::from_ids({{"rack", {5, 5, 4, 4, 5, 5, 5, 4}}, {"node", {7, 7, 3, 3, 9, 9, 9, 3}}});
  EXPECT_EQ(to_string(tree), "rack:2 node:2,1 core:2,3,3 ranks:0,1,4,5,6,2,3,7");
  // An id means something only within its group: both nodes have sockets 0 and 1.
  EXPECT_EQ(to_string(layout_tree::from_ids({{"node", {0, 0, 1, 1}}, {"socket", {0, 1, 0, 1}}})),
            "node:2 socket:2 core:1");
  EXPECT_EQ(layout_tree::from_ids({{"node", {70, -3, 70, 5, -3}}}).nodes(), node_layout::parse("0,2/1,4/3"));
  EXPECT_THROW(layout_tree::from_ids({}), std::invalid_argument);
  EXPECT_THROW(layout_tree::from_ids({{"node", {1, 2}}, {"socket", {1}}}), std::invalid_argument);
}

TEST(layout_tree, leaves_out_found_levels_that_tell_nothing) {
  const auto found = [](std::vector<int> switches, std::vector<int> sockets, std::vector<int> caches) {
    return to_string(layout_tree::found(
        {{"group", switches}, {"node", {0, 0, 0, 0, 1, 1, 1, 1}}, {"socket", sockets}, {"cache", caches}}));
  };
  const std::vector<int> same(8, 0), halves{0, 0, 1, 1, 0, 0, 1, 1}, each{0, 1, 2, 3, 4, 5, 6, 7};
  const std::vector<int> nodes{0, 0, 0, 0, 1, 1, 1, 1};
  EXPECT_EQ(found(same, same, same), "2x4");
  EXPECT_EQ(found(nodes, halves, halves), "node:2 socket:2 core:2");  // a node for each switch, a cache for each socket
  EXPECT_EQ(found(same, halves, each), "node:2 socket:2 core:2");     // a cache for each rank
  EXPECT_EQ(found(same, same, halves), "node:2 cache:2 core:2");
  EXPECT_EQ(to_string(layout_tree::found({{"group", {0, 0, 1, 1}}, {"node", {0, 1, 2, 3}}})), "group:2 node:2 core:1");
  EXPECT_EQ(to_string(layout_tree::found({{"group", {0, 0}}, {"node", {0, 0}}, {"socket", {0, 1}}})), "1x2");
}

std::string refusal(const std::string& text) {
  try {
    layout_tree::parse(text);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "accepted";
}

TEST(layout_tree, says_what_is_wrong_with_a_text) {
  const std::string allowed =
      "; allowed: levels from the outside in (group:4 node:8 socket:2 core:8; also with / between), a number for each "
      "group (node:3 core:4,4,3), at the end the order of the ranks (node:2 core:2 ranks:0,2,1,3)";
  const std::pair<const char*, const char*> wrong[] = {
      {"node:", "'' is not a whole number from 1 to 2097152"},
      {"node:2 core:x", "'x' is not a whole number from 1 to 2097152"},
      {"node:0", "'0' is not a whole number from 1 to 2097152"},
      {"node:2 core", "'core' is not of the form level:members"},
      {":4", "'' cannot name a level"},
      {"Node:4", "'Node' cannot name a level"},
      {"node:2 node:2", "there are two levels node"},
      {"node:3 core:4,4", "core has 2 numbers for 3 groups"},
      {"node:2097152 core:2", "more than 2097152 ranks"},
      {"node:2 core:2 ranks:0,1,2", "3 ranks are listed for 4 places"},
      {"node:2 core:2 ranks:0,1,2,2", "rank 2 is listed twice"},
      {"node:2 core:2 ranks:0,1,2,4", "there is no rank 4"},
      {"node:2 core:2 ranks:0,1,2,-1", "'-1' is not a whole number from 0 to 2097152"},
      {"ranks:0,1 node:2", "ranks: must come last"},
      {"ranks:0", "there are no levels"},
      {"a:1 b:1 c:1 d:1 e:1 f:1 g:1 h:1 i:1 j:1 k:1 l:1 m:1 n:1 o:1 p:1 q:1", "more than 16 levels"},
      {"core:2 node:3", "there are two levels core, with the one that is put inside the nodes"},
      {"a:1 b:1 c:1 d:1 e:1 f:1 g:1 h:1 i:1 j:1 k:1 l:1 m:1 n:1 o:1 p:1",
       "more than 16 levels, with the node that is put around them"},
  };
  for (const auto& [text, what] : wrong)
    EXPECT_EQ(refusal(text), "layout '" + std::string(text) + "': " + what + allowed);
  EXPECT_NE(refusal("4,0").find("'0' is not a number of ranks"), std::string::npos);
}

TEST(layout_tree, refuses_levels_that_do_not_fit) {
  EXPECT_THROW(layout_tree({}, {}), std::invalid_argument);
  EXPECT_THROW(layout_tree({{"node", {2}}, {"core", {2}}}, {0, 1}), std::invalid_argument);
  EXPECT_THROW(layout_tree({{"node", {2}}, {"core", {1, 0}}}, {0}), std::invalid_argument);
  EXPECT_THROW(layout_tree({{"node", {2}}, {"core", {1, 1}}}, {0, 2}), std::invalid_argument);
  EXPECT_THROW(layout_tree({{"core", {2}}, {"node", {1, 1}}}, {0, 1}), std::invalid_argument);
}

}  // namespace
}  // namespace shoal
