#include "select/contest.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace shoal {

namespace {

constexpr int first_quiet = 16, longest_quiet = 4096;
constexpr int longest_trial = 32;
constexpr int enough = 96;      // calls of a candidate after which it is not tried again
constexpr int remembered = 64;  // calls that weigh in a mean against new ones
// Shares of the time of calls that agreements may take: at first, and in the long run.
constexpr double early_share = 0.05, late_share = 5e-3;
constexpr double changed = 1.5;      // times as long as before
constexpr int patience = 8;          // times as many calls before a dropped candidate is tried again
constexpr double first_call = 1e-3;  // seconds that the first call of a candidate may take to make things ready

// Of records of so many calls: how much faster a candidate must seem to be taken, and how much slower to be dropped.
struct confidence {
  int calls;
  double to_take, to_drop;
};
constexpr confidence scale[] = {{1, 1.5, 12}, {3, 1.2, 2.5}, {7, 1.1, 1.6}, {15, 1.06, 1.3}, {47, 1.04, 1.15}};
constexpr confidence surest = {std::numeric_limits<int>::max(), 1.03, 1.08};

confidence with(int calls) {
  for (const confidence& step : scale)
    if (calls <= step.calls) return step;
  return surest;
}

std::int64_t nanoseconds(double seconds) { return std::llround(seconds * 1e9); }

}  // namespace

// The longest is left out where there are a few: what disturbs the machine disturbs a single call.
double contest::section::mean() const { return calls < 4 ? sum / calls : (sum - longest) / (calls - 1); }

contest::contest() : quiet_(cold_calls), quiet_left_(cold_calls) { records_[native].open = true; }

void contest::wait_first(int calls) {
  quiet_ = quiet_left_ = calls;
  unmeasured_ = calls * 2 / 3;
}

double contest::native_seconds() const {
  const double mean = records_[native].mean, seen = now_[native].calls ? now_[native].mean() : 0;
  return static_cast<double>(calls_) * (mean > 0 ? mean : seen);
}

void contest::took(double seconds) {
  const int candidate = next();
  ++calls_;
  if (calls_ > unmeasured_) {
    section& s = now_[candidate];
    ++s.calls;
    s.sum += seconds;
    s.longest = std::max(s.longest, seconds);
  }
  if (trial_left_ > 0) due_ = --trial_left_ == 0;
  else if (quiet_left_ > 0) due_ = --quiet_left_ == 0;
}

void contest::postpone() {
  due_ = false;
  quiet_ = std::min(longest_quiet, 2 * quiet_);
  quiet_left_ = quiet_;
}

void contest::agree_within(int calls) {
  quiet_left_ = quiet_left_ > 0 && trial_left_ == 0 ? std::min(quiet_left_, calls) : calls;
  trial_left_ = 0;
}

void contest::write(std::span<std::int64_t> terms, double load) {
  due_ = false;
  quiet_left_ = 0;  // until agreed()
  for (int i = 0; i < most_candidates; ++i) {
    told_[i] = now_[i].calls;
    terms[i] = told_[i] ? nanoseconds(now_[i].mean()) : 0;
  }
  terms[most_candidates] = load > 0 ? std::llround(4 * std::log2(load)) : 0;
  now_ = {};
}

void contest::agreed(std::span<const std::int64_t> terms, double allowance) {
  const std::int64_t load = terms[most_candidates];
  if (load_ && std::abs(load - load_) >= 4) start_over(std::exp2(static_cast<double>(load - load_) / 4));
  if (!load_ || std::abs(load - load_) >= 4) load_ = load;
  excess_ = 0;
  for (int i = 0; i < most_candidates; ++i)
    if (told_[i]) take_in(i, told_[i], static_cast<double>(terms[i]) * 1e-9);
  best_ = choose();
  plan(allowance);
}

// The first call of a candidate makes things ready, and counts only until there are others.
void contest::take_in(int candidate, int calls, double mean) {
  record& r = records_[candidate];
  if (candidate != native) excess_ += calls * excess_of(mean);
  if (candidate == best_ && slower_than_before(calls, mean)) start_over(mean / r.mean);
  const int before = r.all_calls == 1 ? 0 : std::min(r.calls, remembered);
  r.mean = (r.mean * before + mean * calls) / (before + calls);
  r.calls = before + calls;
  r.all_calls += calls;
  if (!r.least || (calls >= first_quiet / 2 && mean < r.least)) r.least = mean;
}

double contest::excess_of(double mean) const {
  const record& r = records_[native];
  return mean > r.mean ? mean - r.mean : std::min(0.0, mean - r.least);
}

bool contest::slower_than_before(int calls, double mean) const {
  const record& r = records_[best_];
  return settled_ && calls >= 8 && r.calls >= 8 && mean > changed * r.mean;
}

// What was measured is of another time: everything is tried again. Until then all count as changed alike.
void contest::start_over(double factor) {
  for (record& r : records_) {
    r.mean *= factor;
    r.least *= factor;
    r.calls = 0;
    r.dropped = false;
    r.batch = 1;
  }
  quiet_ = first_quiet;
  settled_ = false;
}

double contest::proof(int candidate) const {
  const int calls = records_[candidate].calls / (scattered_ ? 4 : 1);
  return candidate == likely_ ? std::min(1.1, with(calls).to_take) : with(calls).to_take;
}

double contest::limit(int candidate) const { return with(records_[candidate].calls / (scattered_ ? 4 : 1)).to_drop; }

int contest::choose() const {
  int least = best_;
  const auto cost = [&](int i) { return records_[i].mean * (i == best_ ? 1 : proof(i)); };
  for (int i = 0; i < most_candidates; ++i)
    if (records_[i].open && !records_[i].dropped && records_[i].calls && cost(i) < cost(least)) least = i;
  return least;
}

bool contest::worth_trying(int candidate) {
  record& r = records_[candidate];
  if (!r.open || candidate == best_) return false;
  if (r.dropped && calls_ >= r.again) {
    r.dropped = false;
    r.batch = 2;
    r.calls = std::min(r.calls, 3);
  }
  if (r.dropped || r.calls >= enough) return false;
  const double best = records_[best_].mean;
  if (r.calls == 0 || r.mean <= limit(candidate) * best || (r.all_calls == 1 && r.mean - best < first_call))
    return true;
  r.dropped = true;
  r.again = patience * calls_;
  return false;
}

// What is tried next: of all that is worth it what was tried least, the likely first; as many calls as are allowed.
void contest::plan(double allowance) {
  int pick = best_;
  for (int i = 0; i < most_candidates; ++i) {
    if (!worth_trying(i)) continue;
    const auto order = [&](int k) { return records_[k].calls - (k == likely_ ? 1 : 0); };
    if (pick == best_ || order(i) < order(pick)) pick = i;
  }
  settled_ = pick == best_;
  if (settled_) return wait_longer();
  record& r = records_[pick];
  const double best = records_[best_].mean, more = r.calls ? std::max(0.02 * best, r.mean - best) : best;
  const int most = more > 0 ? static_cast<int>(std::clamp(allowance / more, 0.0, 1e6)) : r.batch;
  if (most == 0) return wait_longer();
  trial_ = pick;
  trial_left_ = std::min(r.batch, most);
  r.batch = std::min(longest_trial, 4 * r.batch);
  quiet_ = first_quiet;
}

void contest::wait_longer() {
  const double call = std::max(1e-7, records_[best_].mean);
  const auto calls = [&](double share) {
    return static_cast<int>(std::clamp(agreement_ / (share * call), 32.0, double{longest_quiet}));
  };
  quiet_ = std::clamp(2 * quiet_, calls(early_share) / 2, calls(late_share));
  quiet_left_ = quiet_;
}

void contest::open(int candidate, bool likely) {
  if (records_[candidate].open) return;
  records_[candidate].open = true;
  if (likely) likely_ = candidate;
  settled_ = false;
}

void contest::close(int candidate) {
  records_[candidate].open = false;
  if (best_ == candidate) best_ = native;
}

void contest::assume(int candidate, double seconds) {
  record& r = records_[candidate];
  if (r.calls > 0) return;
  r.mean = r.least = seconds;
  r.calls = 2;
  r.all_calls = 2;
}

void contest::prefer(int candidate) {
  best_ = candidate;
  likely_ = candidate;
}

}  // namespace shoal
