// When the ranks of two groups look whether it pays to make what Shoal needs, and what they find.
#include "select/group_investment.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "select/ledger.hpp"

namespace shoal {
namespace {

// What until_it_pays() finds: calls until it pays, and looks on the way. A call takes call[i] seconds on rank i, and a
// look takes `look` seconds on every rank.
struct found {
  int calls = 0, looks = 0;
  bool pays = false;
};

found until_it_pays(std::vector<double> call, double look, std::int64_t bytes = 0, int most_calls = 1'000'000) {
  std::vector<group_investment> ranks(call.size());
  found so_far;
  double spent = 0;
  for (; so_far.calls < most_calls; ++so_far.calls) {
    const bool due = ranks[0].is_due();
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      EXPECT_EQ(ranks[i].is_due(), due);
      ranks[i].count(bytes, call[i]);
    }
    if (!due) continue;
    ++so_far.looks;
    spent += look;
    group_investment::numbers most;
    most.fill(std::numeric_limits<std::int64_t>::min());
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      const double in_calls = call[i] * so_far.calls;
      const double allowance = std::max(ledger::free_seconds, ledger::share * in_calls) - spent;
      const auto said = ranks[i].said(allowance);
      for (std::size_t k = 0; k < most.size(); ++k) most[k] = std::max(most[k], said[k]);
    }
    for (auto& r : ranks) {
      r.took(look);
      so_far.pays = r.pays(most);
    }
    if (so_far.pays) return so_far;
  }
  return so_far;
}

TEST(GroupInvestment, ProgramsOfAThousandCallsNeverLook) {
  EXPECT_EQ(until_it_pays({40e-6, 40e-6}, 100e-6, 1 << 15, 1000).looks, 0);
}

TEST(GroupInvestment, WhatItCostsIsASmallPartOfTheCallsOrSeconds) {
  for (const double call : {1e-6, 40e-6, 1e-3, 50e-3})
    for (const double look : {20e-6, 100e-6, 300e-6, 2e-3}) {
      const found f = until_it_pays({call, 2 * call}, look);
      const double cost = look * (f.looks + (f.pays ? 16 : 0)), in_calls = call * f.calls;
      EXPECT_LE(cost, std::max(ledger::free_seconds, 0.012 * in_calls) + look) << call << ' ' << look;
      EXPECT_LE(f.looks, 8);
    }
}

TEST(GroupInvestment, LongCallsPaySoon) {
  EXPECT_LE(until_it_pays({1e-3, 1e-3}, 100e-6).calls, 1300);
  EXPECT_LE(until_it_pays({1e-3, 1e-3}, 100e-6, 1 << 19).calls, 250);
}

TEST(GroupInvestment, TheRankWithLeastTimeCounts) {
  EXPECT_GT(until_it_pays({5e-3, 5e-6}, 100e-6).calls, until_it_pays({5e-3, 5e-3}, 100e-6).calls);
}

// The calls but the last 16 before a look may pass, and count in full; so do their seconds.
TEST(GroupInvestment, CallsThatPassCountLikeTheTimedOnesBehindThem) {
  group_investment rank;
  rank.count(1 << 16, 1e-3);  // the first call is slow, and counts as two
  EXPECT_EQ(rank.untimed_left(), 511 - 16);
  EXPECT_EQ(rank.have_passed(rank.untimed_left()), 0);
  for (int call = 0; call < 16; ++call) {
    EXPECT_FALSE(rank.is_due());
    EXPECT_EQ(rank.untimed_left(), 0);
    rank.count(1 << 16, 1e-5);
  }
  EXPECT_TRUE(rank.is_due());
  EXPECT_NEAR(rank.end_passed(), 495e-5, 1e-9);
  EXPECT_NEAR(rank.said(0)[0], -(1e-3 + 511e-5) * 1e9, 1);
}

TEST(GroupInvestment, ACallThatIsTakenBackDoesNotCount) {
  group_investment rank;
  rank.count(0, 1e-5);
  const int left = rank.untimed_left();
  rank.have_passed(10);
  rank.take_back();
  EXPECT_EQ(rank.untimed_left(), left - 9);
}

// Ranks that do not answer may be late, or have no Shoal.
TEST(GroupInvestment, RanksThatDoNotAnswerAreAskedOnceMore) {
  group_investment rank;
  const auto calls_until_due = [&](int most) {
    int calls = 0;
    for (; calls < most && !rank.is_due(); ++calls) rank.count(0, 0);
    return calls;
  };
  const int first = calls_until_due(1 << 20);
  rank.was_unheard();
  EXPECT_EQ(calls_until_due(1 << 20), first);
  rank.was_unheard();
  EXPECT_EQ(calls_until_due(1 << 20), 1 << 20);
}

}  // namespace
}  // namespace shoal
