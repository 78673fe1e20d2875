#include "select/trial.hpp"

#include <gtest/gtest.h>

#include "select/choose.hpp"

namespace shoal {
namespace {

TEST(trial, gives_every_way_as_many_turns) {
  trial t(3);
  std::vector<int> turns(3);
  while (!t.over()) ++turns[t.next()];
  EXPECT_EQ(turns, std::vector<int>(3, trial::rounds));
}

TEST(trial, is_not_misled_by_a_disturbance) {
  trial t(2);
  for (int i = 0; !t.over(); ++i) {
    const std::size_t way = t.next();
    t.took(i == 3 ? 100 : way == 0 ? 2 : 1);
  }
  EXPECT_EQ(t.medians(), (std::vector<double>{2, 1}));
  EXPECT_DOUBLE_EQ(t.cost(), trial::rounds * 1 + 99);
}

TEST(trial, lives_with_exchanges_that_failed) {
  trial t(2);
  while (!t.over())
    if (t.next() == 0) t.took(5);
  EXPECT_EQ(t.medians(), (std::vector<double>{5, 0}));
}

TEST(likely, are_the_fastest_that_are_not_far_behind) {
  measured_exchanges all;
  all.specs = {"native", "spread_out", "tuna:radix=2", "pairwise", "linear", "shared"};
  all.points = {{8, {9, 3, 5, 7, 4, 4.5}}, {64, {9, 30, 5, 7, 4, 400}}};
  EXPECT_EQ(likely(all, block_mix{8}), (std::vector<std::string>{"spread_out", "linear", "shared", "tuna:radix=2"}));
  EXPECT_EQ(likely(all, block_mix{64}), (std::vector<std::string>{"linear", "tuna:radix=2", "pairwise"}));
  EXPECT_EQ(likely(all, std::nullopt), (std::vector<std::string>{"linear", "tuna:radix=2", "pairwise"}));
}

}  // namespace
}  // namespace shoal
