// Ranks that measure different times choose the same candidate, and the right one.
#include "select/contest.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <functional>
#include <numeric>
#include <random>
#include <vector>

#include "select/ledger.hpp"

namespace shoal {
namespace {

using seconds_of = std::function<double(std::int64_t call, int candidate)>;
using bytes_of = std::function<double(std::int64_t call)>;

// The ranks of one communicator. An agreement ends some calls after it was begun.
class ranks {
 public:
  ranks(int number, int candidates, double noise, unsigned seed = 1)
      : each_(static_cast<std::size_t>(number)), noise_(noise), random_(seed) {
    for (contest& rank : each_)
      for (int i = 1; i < candidates; ++i) rank.open(i);
  }

  void wait_first(int calls) {
    for (contest& rank : each_) rank.wait_first(calls);
  }
  void try_anew() {
    for (contest& rank : each_) rank.try_anew();
  }
  void hasten() {
    for (contest& rank : each_) rank.hasten();
  }
  void agreements_take(double seconds) {
    for (contest& rank : each_) rank.agreements_take(seconds);
  }
  void open(int candidate) {
    for (contest& rank : each_) rank.open(candidate);
  }
  void close(int candidate) {
    for (contest& rank : each_) rank.close(candidate);
  }
  void scatter() {
    for (contest& rank : each_) rank.set_scattered(true);
  }
  // Makes so many calls. Returns the seconds of all of them, each on its slowest rank.
  double run(int calls, const seconds_of& seconds, double allowance = 1) {
    double sum = 0;
    for (int i = 0; i < calls; ++i) sum += call(seconds, allowance);
    return sum;
  }
  int best() const { return each_[0].choice(); }
  const contest& first() const { return each_[0]; }
  int calls_of(int candidate) const { return used_[candidate]; }
  int agreements() const { return agreements_; }
  // How many calls nobody timed.
  int passed() const { return passed_; }
  // Whether an agreement ended at the beginning of the last call.
  bool heard() const { return heard_; }

 private:
  double call(const seconds_of& seconds, double allowance) {
    ++number_;
    heard_ = false;
    if (under_way_ && number_ >= ends_) hear(allowance);
    const int candidate = each_[0].next();
    for (const contest& rank : each_) EXPECT_EQ(rank.next(), candidate) << "call " << number_;
    ++used_[candidate];
    const bool passes = all_pass();
    if (is_unable(number_, candidate)) return give_way(passes);
    now_ += gap(candidate);
    if (passes) return pass(seconds(number_, candidate));
    double slowest = 0;
    double share = 1;  // of the load: each rank sends less than the one before
    for (contest& rank : each_) {
      std::exponential_distribution<double> late(1);
      const double took = seconds(number_, candidate) * (1 + noise_ * late(random_));
      slowest = std::max(slowest, took);
      rank.took(took, share * load(number_), now_ + took);
      share *= 0.8;
    }
    now_ += slowest;
    if (each_[0].is_due()) ask();
    return slowest;
  }

  double pass(double seconds) {
    now_ += seconds;
    return seconds;
  }

  double give_way(bool passes) {
    for (contest& rank : each_) rank.gave_way(passes);
    ask();
    return 0;
  }

  bool all_pass() {
    const bool passes = each_[0].passes();
    for (std::size_t i = 1; i < each_.size(); ++i) EXPECT_EQ(each_[i].passes(), passes) << "call " << number_;
    passed_ += passes;
    return passes;
  }

  void ask() {
    largest_.fill(INT64_MIN);
    for (contest& rank : each_) {
      EXPECT_TRUE(rank.is_due());
      std::array<std::int64_t, contest::terms> mine{};
      rank.write(mine, now_);
      for (std::size_t i = 0; i < mine.size(); ++i) largest_[i] = std::max(largest_[i], mine[i]);
    }
    under_way_ = true;
    ends_ = number_ + 3;
    ++agreements_;
  }

  void hear(double allowance) {
    under_way_ = false;
    heard_ = true;
    for (contest& rank : each_) rank.agreed(largest_, allowance, now_);
  }

 public:
  bytes_of load = [](std::int64_t) { return 1024; };
  std::function<bool(std::int64_t call, int candidate)> is_unable = [](std::int64_t, int) { return false; };
  // Seconds that the program spends elsewhere before a call by this candidate.
  std::function<double(int candidate)> gap = [](int) { return 0; };

 private:
  std::vector<contest> each_;
  double noise_;
  std::mt19937 random_;
  std::int64_t number_ = 0, ends_ = 0;
  double now_ = 1;
  bool under_way_ = false, heard_ = false;
  int agreements_ = 0, passed_ = 0;
  std::array<std::int64_t, contest::terms> largest_{};
  std::array<int, contest::most_candidates> used_{};
};

seconds_of always(std::vector<double> microseconds) {
  return [=](std::int64_t, int candidate) { return microseconds[candidate] * 1e-6; };
}

TEST(contest, begins_with_the_mpis_own) {
  ranks few(3, 3, 0.1);
  few.run(8, always({10, 1, 1}));
  EXPECT_EQ(few.calls_of(contest::native), 8);
}

TEST(contest, takes_what_is_faster_soon) {
  ranks few(4, 3, 0.1);
  few.run(40, always({30, 10, 25}));
  EXPECT_EQ(few.best(), 1);
}

// The loser is tried once more, since its times may be out of date. If it is far behind, few calls tell.
TEST(contest, looks_at_what_is_far_behind_in_few_calls_once_more) {
  ranks all(2, 2, 0);
  while (all.best() == contest::native && all.first().calls() < 1000) all.run(1, always({100, 20}));
  const int before = all.calls_of(contest::native);
  all.run(100, always({100, 20}));
  EXPECT_EQ(all.best(), 1);
  EXPECT_LE(all.calls_of(contest::native) - before, 4);
}

TEST(contest, drops_at_once_what_is_clearly_slower) {
  ranks few(4, 2, 0.1);
  few.run(400, always({100, 2000}));
  EXPECT_EQ(few.best(), contest::native);
  EXPECT_LE(few.calls_of(1), 6);
}

// A candidate that works in memory of its own is slow in its first calls.
TEST(contest, gives_a_candidate_time_to_warm_up) {
  ranks few(4, 2, 0.1);
  few.run(400, [&](std::int64_t, int candidate) {
    const double of_candidate = few.calls_of(1) < 6 ? 50e-6 : 15e-6;
    return candidate == 1 ? of_candidate : 33e-6;
  });
  EXPECT_EQ(few.best(), 1);
}

// The first call of a candidate makes things ready, and may meet a disturbance. That uses up most of what may be spent.
TEST(contest, tries_a_second_call_soon_after_a_long_first_one) {
  ranks few(4, 2, 0);
  const auto seconds = [&](std::int64_t, int candidate) {
    const double of_candidate = few.calls_of(1) <= 1 ? 1.6e-3 : 15e-6;
    return candidate == 1 ? of_candidate : 60e-6;
  };
  few.run(200, seconds, 1.5e-3);
  EXPECT_EQ(few.best(), 1);
}

TEST(contest, tries_nothing_that_the_ledger_does_not_allow) {
  ranks few(4, 2, 0.1);
  few.run(400, always({100, 50}), -1e-3);
  EXPECT_EQ(few.calls_of(1), 0);
}

// A candidate that is less than a tenth faster than the MPI's own need not be taken.
TEST(contest, loses_little_whoever_is_the_fastest) {
  for (unsigned seed = 1; seed <= 20; ++seed)
    for (const auto& times : {std::vector<double>{100, 90, 130}, {100, 108, 150}, {100, 40, 35}, {100, 500, 99}}) {
      ranks few(4, 3, 0.3, seed);
      const double took = few.run(10000, always(times));
      ranks ideal(4, 1, 0.3, seed);
      const double least = ideal.run(10000, always({*std::min_element(times.begin(), times.end())}));
      EXPECT_LT(took, 1.15 * least) << "seed " << seed << ", " << times[1] << " and " << times[2];
    }
}

TEST(contest, leaves_calls_to_the_mpi_where_little_is_to_be_gained) {
  const auto best = [](double other) {
    ranks few(4, 2, 0.01);
    few.run(10000, always({100, other}));
    return few.best();
  };
  EXPECT_EQ(best(94), contest::native);
  EXPECT_EQ(best(85), 1);
}

// Where ranks share cores, an exchange may take less time itself, and delay the program's next calls by more.
TEST(contest, leaves_calls_to_the_mpi_if_the_program_goes_on_no_faster) {
  const auto best = [](double gap_behind) {
    ranks few(4, 2, 0.05);
    few.gap = [=](int candidate) { return candidate ? gap_behind : 50e-6; };
    few.run(5000, always({30, 24}));
    return few.best();
  };
  EXPECT_EQ(best(62e-6), contest::native);
  EXPECT_EQ(best(50e-6), 1);
}

TEST(contest, takes_over_soon_and_goes_back_if_the_program_goes_on_no_faster) {
  ranks few(4, 2, 0.05);
  few.gap = [](int candidate) { return candidate ? 80e-6 : 50e-6; };
  few.run(60, always({30, 15}));
  EXPECT_EQ(few.best(), 1);
  few.run(2000, always({30, 15}));
  EXPECT_EQ(few.best(), contest::native);
  EXPECT_LT(few.calls_of(1), 1000);
}

TEST(contest, compares_at_once_what_promises_little_after_many_calls) {
  const auto calls_that_lost = [](double other) {
    ranks few(4, 2, 0.05);
    few.gap = [](int candidate) { return candidate ? 80e-6 : 50e-6; };
    few.wait_first(300);
    int lost = 0;
    for (int call = 0; call < 1500; ++call) {
      few.run(1, always({30, other}));
      lost += few.best() == 1;
    }
    return lost;
  };
  EXPECT_EQ(calls_that_lost(24), 0);
  EXPECT_GT(calls_that_lost(15), 0);
}

// By what calls take, candidate 2 is the fastest, but the program goes on faster by candidate 1.
TEST(contest, keeps_its_choice_while_what_failed_before_is_compared_again) {
  const seconds_of seconds = always({100, 60, 40});
  ranks few(4, 3, 0.05);
  few.gap = [](int candidate) { return candidate == 2 ? 130e-6 : 50e-6; };
  while (!few.first().record_of(2).delays) few.run(1, seconds);
  few.run(100, seconds);
  const int before = few.calls_of(2), natives = few.calls_of(contest::native);
  int compared = 0;
  for (int call = 0; call < 20000; ++call) {
    ASSERT_EQ(few.best(), 1) << "call " << call;
    few.run(1, seconds);
    compared += few.first().is_comparing();
  }
  EXPECT_GT(few.calls_of(2), before + 16);
  EXPECT_GT(compared, 0);
  EXPECT_LT(few.calls_of(contest::native) - natives, 2000);
}

// If every candidate has lost, no gain pays for agreements. If a faster candidate was closed, the ranks still agree
// often, because it may serve again soon.
TEST(contest, agrees_less_often_where_what_was_tried_has_lost) {
  constexpr int calls = 20000;
  const auto agreements = [](double other, bool is_closed) {
    ranks few(4, 2, 0.1);
    few.agreements_take(200e-6);
    few.run(1000, always({100, other}));
    const int before = few.agreements();
    if (is_closed) few.close(1);
    few.run(calls, always({100, other}));
    return few.agreements() - before;
  };
  const int lost = agreements(500, false);
  EXPECT_GT(agreements(90, false), 1.5 * lost);
  EXPECT_GT(agreements(90, true), 1.5 * lost);
}

TEST(contest, takes_no_heed_of_a_call_behind_an_agreement) {
  ranks few(4, 1, 0.1);
  few.run(40, always({100}));
  const double before = few.first().record_of(contest::native).mean;
  few.hasten();
  few.run(1, always({5000}));  // in this call other ranks still set something up
  few.run(4, always({100}));
  EXPECT_NEAR(few.first().record_of(contest::native).mean, before, 5e-6);
}

TEST(contest, claims_no_gain_over_calls_that_only_waited) {
  ranks r(4, 2, 0.1);
  double gained = 0;
  for (int call = 0; call < 3000; ++call) {
    r.run(1, [](std::int64_t number, int candidate) {
      const bool waited = candidate == contest::native && number > 200 && number % 7 < 3;
      return (candidate ? 18e-6 : 20e-6) + (waited ? 2e-3 : 0);
    });
    if (r.heard()) gained -= std::min(0.0, r.first().excess());
  }
  EXPECT_GT(gained, 0);
  EXPECT_LT(gained, 3000 * 5e-6);
}

// The first calls of a program open connections and touch buffers for the first time.
TEST(contest, compares_with_the_mpis_own_when_it_is_warm) {
  ranks few(4, 2, 0.1);
  few.wait_first(48);
  double gained = 0;
  for (int call = 0; call < 1000; ++call) {
    few.run(1, [](std::int64_t number, int candidate) {
      if (candidate) return 24e-6;
      return number <= 16 ? 150e-6 : number <= 32 ? 30e-6 : 18e-6;
    });
    if (few.heard()) gained -= std::min(0.0, few.first().excess());
  }
  EXPECT_EQ(few.best(), contest::native);
  EXPECT_LT(few.calls_of(1), 100);
  EXPECT_LT(gained, 1e-6);
}

TEST(contest, agrees_ever_more_rarely) {
  ranks few(2, 2, 0.05);
  few.run(1000, always({100, 300}));
  const int early = few.agreements();
  few.run(10000, always({100, 300}));
  EXPECT_LT(early, 40);
  EXPECT_LT(few.agreements() - early, 400);
}

TEST(contest, notices_that_its_choice_became_slower) {
  ranks few(4, 2, 0.1);
  few.run(2000, [](std::int64_t, int candidate) { return candidate ? 10e-6 : 30e-6; });
  EXPECT_EQ(few.best(), 1);
  few.run(4000, [](std::int64_t, int candidate) { return candidate ? 90e-6 : 30e-6; });
  EXPECT_EQ(few.best(), contest::native);
}

// The first calls in which the choice is slower must not change the time with which later calls are compared.
TEST(contest, notices_a_small_loss_of_speed_late) {
  ranks few(4, 2, 0.1);
  few.run(100000, always({30, 10}));
  EXPECT_EQ(few.best(), 1);
  few.run(12000, always({12, 17}));
  EXPECT_EQ(few.best(), contest::native);
}

TEST(contest, starts_over_when_sizes_change) {
  ranks few(4, 2, 0.1);
  few.run(1000, always({100, 50}));
  EXPECT_EQ(few.best(), 1);
  few.load = [](std::int64_t) { return 64 * 1024; };
  few.run(1000, always({1000, 2000}));
  EXPECT_EQ(few.best(), contest::native);
}

TEST(contest, looks_at_few_calls_once_it_is_settled) {
  for (const double other : {3.0, 0.3}) {
    ranks few(2, 2, 0.05);
    few.run(5000, always({1, other}));
    const int early = few.passed();
    few.run(20000, always({1, other}));
    EXPECT_GT(few.passed() - early, 19000);
  }
}

// A job that keeps a ledger as learners do.
class accounted {
 public:
  accounted(int number, int candidates, double noise, unsigned seed) : all_(number, candidates, noise, seed) {}
  void scatter() { all_.scatter(); }
  double run(int calls, const seconds_of& seconds, const bytes_of& bytes) {
    all_.load = bytes;
    double sum = 0;
    for (int i = 0; i < calls; ++i) {
      const double took = all_.run(1, seconds, books_.allowance());
      books_.called(took);
      if (all_.heard()) books_.settle(all_.first().excess());
      sum += took;
    }
    return sum;
  }
  void spend_all() { books_.spend(books_.allowance()); }
  double gained() const { return books_.gained(); }
  int best() const { return all_.best(); }

 private:
  ranks all_;
  ledger books_;
};

// Sizes of calls that vary: evenly, as of particles; with a long tail, as of pieces of a mesh; or with one call in
// twenty that is very large.
bytes_of scattered_sizes(int kind, unsigned seed) {
  return [=](std::int64_t call) {
    std::minstd_rand random(static_cast<unsigned>(call) * 7919U + seed);
    random.discard(3);
    const double uniform = std::generate_canonical<double, 32>(random);
    if (kind == 0) return 2000 + 30000 * uniform;
    if (kind == 1) return std::min(1e6, 1000 * std::pow(1 - uniform, -1 / 1.3));
    return uniform < 0.05 ? 3e5 : 500.0;
  };
}

// What a candidate costs. Which candidate is ahead depends on the size.
struct priced {
  double latency, bytes_a_second;
  double seconds(double bytes) const { return latency + bytes / bytes_a_second; }
};

// How many times as long a job takes that learns as if the better one of the two served from the first call.
double regret(const std::array<priced, 2>& of, const bytes_of& bytes, unsigned seed) {
  constexpr int calls = 6000;
  const auto took_by = [&](int candidate) {
    const seconds_of seconds = [&](std::int64_t call, int) { return of[candidate].seconds(bytes(call)); };
    return ranks(4, 1, 0.2, seed).run(calls, seconds);
  };
  accounted job(4, 2, 0.2, seed);
  job.scatter();
  const auto seconds = [&](std::int64_t call, int candidate) { return of[candidate].seconds(bytes(call)); };
  return job.run(calls, seconds, bytes) / std::min(took_by(0), took_by(1));
}

// Luck decides a single job: whether the large calls of its beginning fall to one candidate or to the other.
TEST(contest, loses_little_where_sizes_vary) {
  using pair = std::array<priced, 2>;
  std::vector<double> regrets;
  for (const pair& of : {pair{{{20e-6, 1e9}, {10e-6, 0.8e9}}}, pair{{{20e-6, 1e9}, {24e-6, 1e9}}},
                         pair{{{20e-6, 2e9}, {10e-6, 0.5e9}}}, pair{{{20e-6, 1e9}, {12e-6, 1.4e9}}}})
    for (const int kind : {0, 1, 2})
      for (unsigned seed = 1; seed <= 20; ++seed) regrets.push_back(regret(of, scattered_sizes(kind, seed), seed));
  std::sort(regrets.begin(), regrets.end());
  const auto jobs = static_cast<double>(regrets.size());
  EXPECT_LT(std::accumulate(regrets.begin(), regrets.end(), 0.0) / jobs, 1.02);
  EXPECT_LT(regrets[regrets.size() * 95 / 100], 1.12);
}

// Going back costs the job nothing.
TEST(contest, goes_back_to_the_mpis_own_when_nothing_may_be_spent) {
  accounted few(4, 2, 0.1, 1);
  few.run(2000, always({30, 10}), [](std::int64_t) { return 1e3; });
  EXPECT_EQ(few.best(), 1);
  const double gained = few.gained();
  few.spend_all();
  few.run(2000, always({300, 500}), [](std::int64_t) { return 64e3; });
  EXPECT_EQ(few.best(), contest::native);
  EXPECT_LT(few.gained(), gained + 2e-3);
}

TEST(contest, claims_no_gain_over_what_it_has_not_measured) {
  accounted few(4, 2, 0.1, 1);
  few.run(2000, always({30, 29}), [](std::int64_t) { return 1e3; });
  few.run(2000, always({32, 31}), [](std::int64_t) { return 1e6; });
  EXPECT_LT(few.gained(), 4000 * 3e-6);
}

// As if two ranks had begun on one core, and moved apart later.
TEST(contest, finds_the_mpis_own_again_after_a_disturbed_beginning) {
  ranks two(2, 2, 0.1);
  two.wait_first(48);
  two.run(10000, [](std::int64_t number, int candidate) {
    const double disturbed = number < 900 ? 20e-6 : 0;
    return candidate ? 0.5e-6 + disturbed / 10 : 0.2e-6 + disturbed;
  });
  EXPECT_EQ(two.best(), contest::native);
  EXPECT_LT(two.calls_of(1), 4000);
}

// A rank counts such calls when it writes its terms, before it hears of the other ranks, because what it may spend is
// one of the terms.
TEST(contest, counts_calls_that_nobody_timed_in_what_it_writes) {
  contest one;
  double now = 1;
  one.wait_first(48);
  std::array<std::int64_t, contest::terms> terms;
  double counted = 0;
  for (int call = 0; call < 1000; ++call) {
    if (one.passes()) continue;
    one.took(1e-3, 1000, now += 1e-3);
    counted += 1e-3;
    if (!one.is_due()) continue;
    one.write(terms, now);
    counted += one.passed_seconds();
    EXPECT_NEAR(counted, 1e-3 * (call + 1), 1e-6);
    call % 3 ? one.agreed(terms, 0, now) : one.postpone();  // also if agreements come to nothing
  }
  EXPECT_GT(counted, 0.5);
}

// If an agreement takes long, agreements may be further apart than 4096 calls.
TEST(contest, never_agrees_sooner_because_nobody_could_agree) {
  contest one;
  double now = 1;
  one.agreements_take(1);
  std::array<std::int64_t, contest::terms> terms;
  std::int64_t last = 0, longest = 0;
  for (std::int64_t call = 1; call < 1'000'000; ++call) {
    if (one.passes()) continue;
    one.took(1e-3, 1000, now += 1e-3);
    if (!one.is_due()) continue;
    EXPECT_GE(call - last, longest);
    longest = std::max(longest, call - last);
    last = call;
    one.write(terms, now);
    longest < 8192 ? one.agreed(terms, 0, now) : one.postpone();
  }
  EXPECT_GE(longest, 8192);
}

// How long ranks may wait for each other's votes depends on this.
TEST(contest, knows_what_calls_took_while_the_first_agreement_is_under_way) {
  contest one;
  double now = 1;
  EXPECT_EQ(one.native_seconds(), 0);
  for (int call = 0; call < contest::cold_calls; ++call) one.took(1e-3, 1000, now += 1e-3);
  EXPECT_NEAR(one.native_seconds(), contest::cold_calls * 1e-3, 1e-6);
  std::array<std::int64_t, contest::terms> terms;
  one.write(terms, now);
  EXPECT_NEAR(one.native_seconds(), contest::cold_calls * 1e-3, 1e-6);
}

TEST(contest, tries_what_serves_in_another_way_anew) {
  ranks of(4, 2, 0.01);
  of.run(2000, [](std::int64_t, int candidate) { return candidate ? 5e-4 : 1e-4; });
  ASSERT_EQ(of.best(), contest::native);
  const int before = of.calls_of(1);
  of.try_anew();
  of.run(300, [](std::int64_t, int candidate) { return candidate ? 5e-5 : 1e-4; });
  EXPECT_GT(of.calls_of(1), before + 100);
  EXPECT_EQ(of.best(), 1);
}

// A stalled call in the times that the ranks agree on must not cost the rest of the job.
TEST(contest, forgets_a_stall) {
  ranks few(4, 2, 0.1);
  few.run(20000, [](std::int64_t number, int candidate) {
    const double stall = number % 500 < 2 && number < 2000 ? 5e-3 : 0;
    return (candidate ? 30e-6 : 20e-6) + stall;
  });
  EXPECT_EQ(few.best(), contest::native);
  EXPECT_LT(few.calls_of(1), 2000);
}

TEST(contest, never_takes_what_gave_way) {
  ranks few(4, 3, 0.1);
  few.is_unable = [](std::int64_t, int candidate) { return candidate == 1; };
  few.run(2000, always({30, 10, 25}));
  EXPECT_EQ(few.calls_of(1), 1);
  EXPECT_EQ(few.best(), 2);
}

TEST(contest, goes_on_without_what_gives_way_once_it_serves) {
  ranks few(4, 3, 0.1);
  few.is_unable = [](std::int64_t call, int candidate) { return candidate == 1 && call > 5000; };
  few.run(5000, always({30, 10, 25}));
  ASSERT_EQ(few.best(), 1);
  ASSERT_GT(few.passed(), 1000);
  const int before = few.calls_of(1);
  few.run(2000, always({30, 10, 25}));
  EXPECT_EQ(few.calls_of(1), before + 1);
  EXPECT_EQ(few.best(), 2);
}

// Most calls that are left until the next agreement are not timed, so they must not go to what is tried next.
TEST(contest, tries_others_in_few_calls_when_the_choice_gives_way) {
  const seconds_of seconds = always({100, 20, 300});
  ranks few(4, 2, 0.1);
  few.agreements_take(200e-6);
  few.run(5000, seconds);
  while (few.first().untimed_left() < 100) few.run(1, seconds);
  ASSERT_EQ(few.best(), 1);
  few.open(2);
  few.is_unable = [](std::int64_t, int candidate) { return candidate == 1; };
  few.run(100, seconds);
  EXPECT_GE(few.calls_of(2), 1);
  EXPECT_LE(few.calls_of(2), 5);
}

TEST(contest, ends_the_trial_of_what_is_closed) {
  ranks few(4, 2, 0.1);
  while (few.calls_of(1) < 7) few.run(1, always({100, 105}));
  ASSERT_EQ(few.first().next(), 1);
  few.close(1);
  const int before = few.agreements();
  few.run(1000, always({100, 105}));
  EXPECT_EQ(few.calls_of(1), 7);
  EXPECT_GT(few.agreements(), before);
}

// Ranks take the same candidate whatever the times are, also if a rank pauses for reasons of its own.
TEST(contest, never_lets_ranks_differ) {
  for (unsigned seed = 1; seed <= 50; ++seed) {
    std::mt19937 random(seed);
    ranks few(2 + static_cast<int>(random() % 6), 2 + static_cast<int>(random() % 6), 1, seed);
    if (seed % 2) few.load = scattered_sizes(static_cast<int>(seed / 2 % 3), seed);
    if (seed % 3 == 0) few.scatter();
    few.run(
        3000,
        [&](std::int64_t, int candidate) {
          const double pause = random() % 200 == 0 ? 4e-3 : 0;
          return 20e-6 * (1 + static_cast<double>((candidate * 7 + seed) % 5)) + pause;
        },
        static_cast<double>(random() % 100) * 1e-4);
  }
}

}  // namespace
}  // namespace shoal
