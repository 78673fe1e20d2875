#include "select/size_pattern.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

namespace shoal {
namespace {

using terms = std::array<std::int64_t, size_pattern::longest>;

// Makes calls of these sizes in turn. Returns what the rank then tells the others.
terms after(size_pattern& of, const std::vector<double>& sizes, int calls) {
  for (int i = 0; i < calls; ++i) of.place_of_next(sizes[i % sizes.size()]);
  terms no;
  of.write(no);
  return no;
}

TEST(SizePattern, FindsTheShortestPeriodThatAllRanksSee) {
  size_pattern one, two;
  const terms mine = after(one, {100, 100000}, 12), others = after(two, {5000, 5000}, 12);
  EXPECT_EQ(mine, (terms{1, 0, 1, 0}));
  EXPECT_EQ(others, (terms{0, 0, 0, 0}));
  terms all;
  std::transform(mine.begin(), mine.end(), others.begin(), all.begin(), [](auto a, auto b) { return std::max(a, b); });
  EXPECT_TRUE(one.agreed(all) && two.agreed(all));
  for (int call = 0; call < 6; ++call) EXPECT_EQ(one.place_of_next(1), two.place_of_next(1));
  EXPECT_NE(one.place_of_next(1), one.place_of_next(1));
}

TEST(SizePattern, SmallDifferencesArePartOfOneSize) {
  size_pattern of;
  EXPECT_EQ(after(of, {8, 30, 40}, 16)[0], 0);
  size_pattern large;
  EXPECT_EQ(after(large, {1000, 1400}, 16)[0], 0);
}

TEST(SizePattern, SizesThatNeverRepeatAreScattered) {
  size_pattern of;
  const terms no = after(of, {100, 1000, 10000, 100000, 1000000, 1e7}, 16);
  EXPECT_EQ(no, (terms{1, 1, 1, 1}));
  EXPECT_FALSE(of.agreed(no));
  EXPECT_EQ(of.place_of_next(1), of.place_of_next(1)) << "all calls are compared with each other";
}

}  // namespace
}  // namespace shoal
