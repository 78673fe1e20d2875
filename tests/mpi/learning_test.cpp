// What the ranks of a communicator look at before they agree on anything, and when they agree.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "learn/exchange_fields.hpp"
#include "learn/first_calls.hpp"
#include "learn/rank_terms.hpp"

namespace shoal {
namespace {

constexpr int ranks = 4;

void exchange(exchange_fields& fields, std::int64_t block, int times) {
  for (int i = 0; i < times; ++i) {
    bool is_new = false;
    fields.of_next({call_form::equal, block, true}, is_new).add(contest::native, 1e-6, 0);
  }
}

TEST(Learning, LooksSoonAtSizesThatAlternate) {
  constexpr double bytes = 4096;
  const int first = calls_before_agreement(false, bytes, ranks, 0, 0);
  EXPECT_GE(first, 90);
  EXPECT_LE(calls_before_agreement(false, bytes, ranks, first, 0), first / 3);
  EXPECT_EQ(calls_before_agreement(true, bytes, ranks, 500, 0), calls_before_agreement(true, bytes, ranks, 8, 0));
}

TEST(Learning, KnowsTheLargestUsualExchange) {
  exchange_fields fields(collective::alltoall, ranks);
  EXPECT_EQ(fields.largest_usual_load(), 0);
  exchange(fields, 64, 20);
  exchange(fields, 4096, 10);
  exchange(fields, 1 << 20, 1);
  EXPECT_EQ(fields.largest_usual_load(), 4096 * ranks);
}

// Also if the exchange in which the ranks agree is small. The memory has room for exchanges to grow.
TEST(Learning, MakesMemoryForTheLargestUsualExchange) {
  rank_terms terms;
  terms.set_load(64 * ranks);
  terms.largest_load = 16384;
  EXPECT_GE(agreed_terms(terms.numbers()).room(ranks), 2 * 16384);
  EXPECT_LT(agreed_terms(terms.numbers()).room(ranks), 4 * 16384);
}

TEST(Learning, TellsHowFarApartRanksSaidTheirTerms) {
  rank_terms first, last;
  first.said_at = 100.25;
  last.said_at = 101;
  std::vector<std::int64_t> largest = first.numbers();
  const std::vector<std::int64_t> others = last.numbers();
  for (std::size_t i = 0; i < largest.size(); ++i) largest[i] = std::max(largest[i], others[i]);
  EXPECT_DOUBLE_EQ(agreed_terms(largest).seconds_apart(), 0.75);
}

// By what calls take, candidate 1 is twice as fast. But the program goes on no faster by it.
std::string summary_behind_a_comparison() {
  exchange_field f;
  std::array<std::int64_t, contest::terms> terms{};
  double now = 1;
  f.trials.open(1);
  for (int call = 0; call < 5000; ++call) {
    const int candidate = f.trials.next();
    now += 100e-6;
    if (f.trials.passes()) continue;
    f.add(candidate, candidate ? 30e-6 : 60e-6, now);
    if (!f.trials.is_due()) continue;
    f.trials.write(terms, now);
    f.trials.agreed(terms, 1, now);
  }
  return f.summary(std::vector<std::string>{"native", "other"});
}

// Also if it was dropped before, because another candidate seemed faster.
TEST(Learning, TellsWhatIsKept) {
  const std::string text = summary_behind_a_comparison();
  const std::size_t other = text.find("other ");
  EXPECT_NE(text.find(" (kept)"), std::string::npos) << text;
  EXPECT_LT(text.find(" (kept)"), other) << text;
  EXPECT_LT(other, text.find(" (dropped: the program went on no faster)")) << text;
}

}  // namespace
}  // namespace shoal
