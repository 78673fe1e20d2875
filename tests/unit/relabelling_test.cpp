#include "algorithms/relabelling.hpp"

#include <gtest/gtest.h>

#include "same_schedule.hpp"
#include "schedule/checker.hpp"
#include "topology/layout_tree.hpp"

namespace shoal {
namespace {

std::vector<schedule> renamed(const selection& chosen, const problem& at) {
  const schedule first = generate(chosen, at, 0);
  std::vector<schedule> all;
  for (int rank = 0; rank < at.ranks; ++rank) {
    all.push_back(relabelled(first, *relabelling_of(chosen, at, rank)));
    EXPECT_EQ(all.back().rank, rank);
  }
  return all;
}

TEST(relabelling, moves_every_coordinate_on) {
  const relabelling names({4, 3}, 6);  // rank 6 is number 2 in the second group of 4
  EXPECT_EQ(names(0), 6);
  EXPECT_EQ(names(1), 7);
  EXPECT_EQ(names(2), 4);   // wraps around in the group
  EXPECT_EQ(names(8), 2);   // wraps around from the last group to the first
  EXPECT_EQ(names(11), 1);  // wraps around in both ways
  EXPECT_EQ(names(names.name_of_0()), 0);
}

TEST(relabelling, gives_the_schedules_around_a_ring) {
  for (const char* spec : {"tuna:radix=2", "tuna:radix=3,inflight=2", "tuna", "bruck", "two_phase", "spread_out",
                           "scattered:block_count=3", "shared"})
    for (int ranks = 1; ranks <= 20; ++ranks) {
      problem at;
      at.ranks = ranks;
      const auto all = renamed(parse_selection(spec), at);
      for (int rank = 0; rank < ranks; ++rank)
        ASSERT_TRUE(same(all[rank], generate(parse_selection(spec), at, rank))) << spec << ", " << rank;
    }
}

// This form ends with copies in the order of ranks, so a relabelled schedule is right but not the same.
TEST(relabelling, gives_bruck_in_its_basic_form) {
  problem at;
  for (at.ranks = 1; at.ranks <= 20; ++at.ranks)
    EXPECT_FALSE(check(renamed(parse_selection("bruck:variant=basic"), at), alltoall_meaning(at.ranks)));
}

// The blocks of a message lie in another order than in the schedule that a rank makes itself, but in the same order at
// both ends.
TEST(relabelling, gives_exchanges_over_equal_levels) {
  for (const char* layout : {"1x1", "5x1", "3x4", "node:2 socket:2 core:3", "group:3 node:2 core:2",
                             "plane:2 row:3 node:4", "group:2 node:3 socket:2 core:2"})
    for (const char* spec :
         {"hierarchical", "hierarchical:local=linear", "hierarchical:radix=2,global=radix,global_radix=2",
          "hierarchical:pattern=staggered,block_count=2", "hierarchical:local=none", "hierarchical:local=shared",
          "hierarchical:local=none,global=radix,global_radix=2", "hierarchical:overlap=off"}) {
      const problem at = placed(layout_tree::parse(layout));
      const auto fault = check(renamed(parse_selection(spec), at), alltoall_meaning(at.ranks));
      EXPECT_FALSE(fault) << spec << " on " << layout << ": " << fault->text;
    }
}

TEST(relabelling, is_none_where_ranks_do_different_things) {
  const auto found = [](const char* spec, const char* layout) {
    return relabelling_of(parse_selection(spec), placed(layout_tree::parse(layout)), 1).has_value();
  };
  EXPECT_TRUE(found("hierarchical", "4x4"));
  EXPECT_FALSE(found("hierarchical", "4,3"));
  EXPECT_FALSE(found("hierarchical", "cyclic:4x4"));
  EXPECT_FALSE(found("hierarchical:carriers=1", "4x4"));
  EXPECT_FALSE(found("linear", "4x4"));
  EXPECT_FALSE(found("exclusive_or", "4x4"));
  EXPECT_FALSE(found("native", "4x4"));
}

}  // namespace
}  // namespace shoal
