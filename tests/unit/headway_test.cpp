// Stretches of calls tell by whom a program goes on faster.
#include "select/headway.hpp"

#include <gtest/gtest.h>

#include <functional>

namespace shoal {
namespace {

using seconds_of = std::function<double(bool candidates, int stretch)>;

// What comes of a comparison in which so many seconds pass from one call to the next; and after how many stretches.
struct outcome {
  headway::verdict found;
  int stretches, calls;
};

outcome compare(std::uint64_t seed, const seconds_of& seconds) {
  headway of;
  of.begin(1, seed, 100e-6, 100000);
  outcome all{headway::verdict::open, 0, 0};
  while (of.is_on()) {
    all.calls += of.calls();
    all.found = of.ended(seconds(of.is_candidates(), all.stretches));
    ++all.stretches;
  }
  return all;
}

TEST(headway, finds_who_is_ahead) {
  for (std::uint64_t seed = 0; seed < 32; ++seed) {
    EXPECT_EQ(compare(seed, [](bool candidates, int) { return candidates ? 90e-6 : 100e-6; }).found,
              headway::verdict::ahead);
    EXPECT_EQ(compare(seed, [](bool candidates, int) { return candidates ? 110e-6 : 100e-6; }).found,
              headway::verdict::behind);
  }
}

TEST(headway, lets_the_mpi_serve_if_both_are_alike) {
  EXPECT_EQ(compare(5, [](bool, int) { return 100e-6; }).found, headway::verdict::behind);
}

TEST(headway, needs_few_calls_for_a_large_difference) {
  const outcome clear = compare(1, [](bool candidates, int) { return candidates ? 30e-6 : 100e-6; });
  EXPECT_EQ(clear.stretches, 4);
  EXPECT_LE(clear.calls, 64);
  EXPECT_EQ(compare(1, [](bool candidates, int) { return candidates ? 95e-6 : 100e-6; }).stretches, 10);
}

// A disturbance of the machine hits one stretch.
TEST(headway, is_not_decided_by_one_pair) {
  for (std::uint64_t seed = 0; seed < 32; ++seed)
    for (int hit = 0; hit < 10; ++hit) {
      const auto disturbed = [=](bool candidates, int stretch) {
        return (candidates ? 120e-6 : 100e-6) * (stretch == hit && !candidates ? 10 : 1);
      };
      EXPECT_EQ(compare(seed, disturbed).found, headway::verdict::behind) << seed << ", " << hit;
    }
}

// A rhythm of the program must not favour who serves first or second.
TEST(headway, lets_chance_decide_who_serves_first) {
  int first = 0;
  for (std::uint64_t seed = 0; seed < 32; ++seed) {
    headway of;
    of.begin(1, seed, 100e-6, 100000);
    for (int pair = 0; pair < 5; ++pair) {
      const bool candidates = of.is_candidates();
      first += candidates;
      of.ended(100e-6);
      EXPECT_NE(of.is_candidates(), candidates);
      of.ended(100e-6);
    }
  }
  EXPECT_EQ(first, 32 * 5 / 2);
}

TEST(headway, has_no_longer_stretches_than_it_may) {
  headway of;
  of.begin(1, 0, 1e-6, 100000);
  EXPECT_EQ(of.calls(), 1000);
  of.begin(1, 0, 1e-6, 1280);
  EXPECT_EQ(of.calls(), 40);
  of.begin(1, 0, 1, 100000);
  EXPECT_EQ(of.calls(), 16);
}

}  // namespace
}  // namespace shoal
