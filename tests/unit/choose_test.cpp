#include <gtest/gtest.h>

#include <algorithm>

#include "select/choose.hpp"
#include "select/sparse_pattern.hpp"

namespace shoal {
namespace {

// What each spec takes for blocks of three sizes.
measured_exchanges measured(std::vector<double> native, std::vector<double> straight, std::vector<double> radix_two,
                            double asking = 0) {
  measured_exchanges all;
  all.specs = {"native", "spread_out", "tuna:radix=2"};
  all.asking = asking;
  const std::int64_t blocks[] = {8, 1024, 16384};
  for (int i = 0; i < 3; ++i) all.points.push_back({blocks[i], {native[i], straight[i], radix_two[i]}});
  return all;
}

std::string chosen(const measured_exchanges& from, std::int64_t block) {
  return to_string(choose(from, {static_cast<double>(block)}).algorithm);
}

TEST(measured_exchanges, are_joined_by_straight_lines) {
  const measured_exchanges all = measured({1, 2, 4}, {3, 3, 3}, {9, 5, 7});
  EXPECT_DOUBLE_EQ(all.seconds(0, {8}), 1);
  EXPECT_DOUBLE_EQ(all.seconds(0, {516}), 1.5);
  EXPECT_DOUBLE_EQ(all.seconds(0, {1024}), 2);
  EXPECT_DOUBLE_EQ(all.seconds(0, {16384 + 7680}), 5);  // the last line goes on
  EXPECT_DOUBLE_EQ(all.seconds(0, {0}), 1);             // nothing is cheaper than the smallest block
  EXPECT_DOUBLE_EQ(all.seconds(2, {500}), 9);           // larger blocks are not cheaper
  EXPECT_DOUBLE_EQ(all.seconds(2, {1024}), 5);          // unless they were measured
}

TEST(measured_exchanges, can_leave_one_out) {
  const measured_exchanges all = measured({1, 2, 4}, {3, 3, 3}, {9, 5, 7});
  const measured_exchanges rest = all.without("spread_out");
  EXPECT_EQ(rest.specs, (std::vector<std::string>{"native", "tuna:radix=2"}));
  EXPECT_DOUBLE_EQ(rest.seconds(1, {8}), 9);
  EXPECT_EQ(all.without("shared").specs, all.specs);
}

TEST(measured_exchanges, know_mostly_empty_ones_apart_from_equal_ones) {
  measured_exchanges all = measured({1, 2, 4}, {3, 3, 3}, {9, 5, 7});
  EXPECT_DOUBLE_EQ(all.seconds(0, {1024, 0.5}), all.seconds(0, {512}));  // the same bytes in all
  all.nonempty_share = 0.1;
  all.sparse = {{8, {0.5, 1, 1}}, {1024, {1, 1, 1}}, {16384, {3, 1, 1}}};
  EXPECT_DOUBLE_EQ(all.seconds(0, {1024, 1}), 2);
  EXPECT_DOUBLE_EQ(all.seconds(0, {1024, 0.55}), 1.5);
  EXPECT_DOUBLE_EQ(all.seconds(0, {1024, 0.1}), 1);
  EXPECT_DOUBLE_EQ(all.seconds(0, {1024, 0.01}), 1);
  EXPECT_DOUBLE_EQ(all.seconds(0, {0, 0}), 0.5);
  EXPECT_EQ(all.mixes().size(), 6u);
  EXPECT_EQ(all.without("native").sparse[2].seconds, (std::vector<double>{1, 1}));
}

TEST(sparse_pattern, is_about_a_tenth_and_the_same_both_ways) {
  for (int ranks = 1; ranks < 60; ++ranks) {
    int most = 0;
    for (int a = 0; a < ranks; ++a) {
      EXPECT_FALSE(sparse_pair(a, a));
      int full = 0;
      for (int b = 0; b < ranks; ++b) full += sparse_pair(a, b);
      most = std::max(most, full);
    }
    EXPECT_DOUBLE_EQ(sparse_share(ranks), 1.0 * most / ranks) << ranks;
    EXPECT_EQ(sparse_share(ranks) > 0, ranks >= 4) << ranks;
    EXPECT_LE(sparse_share(ranks), ranks < 11 ? 0.25 : 0.19) << ranks;
  }
}

TEST(features, of_several_exchanges_are_their_mean) {
  features all{4, 800, 100, 8, 300};
  EXPECT_DOUBLE_EQ(all.mix().bytes, 100);
  EXPECT_DOUBLE_EQ(all.mix().nonempty_share, 0.75) << "3 of 4 blocks of the rank that has most";
  features wrong{4, 1600, 100, 16, 500};
  EXPECT_TRUE(wrong.is_uniform());
  wrong.invalid = true;
  all.add(wrong);
  EXPECT_EQ(all.calls, 2);
  EXPECT_DOUBLE_EQ(all.mix().nonempty_share, 1);
  EXPECT_FALSE(all.is_uniform() || all.invalid);
  EXPECT_DOUBLE_EQ(features::uniform(4, 0).mix().bytes, 0);
}

TEST(choose, takes_the_fastest_for_the_block) {
  const measured_exchanges all = measured({9, 9, 9}, {7, 8, 10}, {4, 8.5, 20});
  EXPECT_EQ(chosen(all, 8), "tuna:radix=2");
  EXPECT_EQ(chosen(all, 1024), "spread_out");
  EXPECT_EQ(chosen(all, 16384), "native");
}

TEST(choose, leaves_the_mpi_its_exchange_unless_another_is_clearly_faster) {
  EXPECT_EQ(chosen(measured({10, 10, 10}, {9.6, 9.6, 9.6}, {20, 20, 20}), 8), "native");
  EXPECT_EQ(chosen(measured({10, 10, 10}, {9.4, 9.4, 9.4}, {20, 20, 20}), 8), "spread_out");
}

TEST(choose, says_what_was_measured) {
  const choice best = choose(measured({9e-6, 9e-6, 9e-6}, {7e-6, 8e-6, 9e-6}, {5e-6, 8e-6, 20e-6}), {8});
  EXPECT_EQ(best.reason, "measured, for 8 bytes a block: native 9.0 us, spread_out 7.0 us, tuna:radix=2 5.0 us");
}

TEST(choose, takes_the_fastest_for_mostly_empty_blocks_and_says_so) {
  measured_exchanges all = measured({9, 9, 9}, {7, 7, 7}, {4, 4, 4});
  all.nonempty_share = 0.1;
  all.sparse = {{8, {3, 2, 1}}, {16384, {3, 1, 2}}};
  const choice best = choose(all, {16384, 0.1});
  EXPECT_EQ(to_string(best.algorithm), "spread_out");
  EXPECT_NE(best.reason.find("for 16384 bytes a block and 90 % of blocks empty: "), std::string::npos) << best.reason;
  EXPECT_EQ(to_string(choose(all, {16384}).algorithm), "tuna:radix=2");
}

TEST(choose, knows_what_would_be_next) {
  const choice best = choose(measured({9, 9, 9}, {7, 8, 9}, {5, 8, 20}), {8});
  EXPECT_EQ(best.next, "spread_out");
  EXPECT_DOUBLE_EQ(best.seconds, 5);
  EXPECT_DOUBLE_EQ(best.next_seconds, 7);
}

TEST(choose, leaves_it_to_the_mpi_where_nothing_is_left) {
  measured_exchanges none = measured({1, 1, 1}, {2, 2, 2}, {3, 3, 3});
  for (const std::string spec : {"native", "spread_out", "tuna:radix=2"}) none = none.without(spec);
  EXPECT_EQ(chosen(none, 8), "native");
}

}  // namespace
}  // namespace shoal
