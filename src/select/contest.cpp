#include "select/contest.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "select/ledger.hpp"

namespace shoal {

namespace {

constexpr int first_timed = 16, longest_distance = 4096;
constexpr int timed_part = 32;  // one in this many of the calls between two agreements is timed
constexpr int longest_trial = 32;
constexpr int few = 3;          // calls from which on a mean says something
constexpr int warm = 8;         // calls of a candidate; in earlier ones it touches memory for the first time
constexpr int enough = 96;      // calls of a candidate after which it is set aside
constexpr int remembered = 64;  // earlier calls, at most, that weigh in a mean against new ones
// Shares of the calls' time that agreements may take: at first, in the long run, and if what was tried has lost, so
// that no gain pays for agreements.
constexpr double early_share = 0.05, late_share = 5e-3, lost_share = 5e-4;
constexpr double changed = 1.5;  // a call that takes this many times as long as before has changed
constexpr double clearly_less = 1.5;
constexpr double worthwhile = 1.1;  // how many times faster than the MPI's own a candidate has to seem
// A choice is compared with the MPI's own after this many times the calls so far, but not sooner than after so many more.
constexpr std::int64_t until_compared = 4, fewest_until_compared = 256;
constexpr int longer_stretch = 8;  // calls more if the ranks cannot agree at the end of a stretch
constexpr double near = 1.2;       // up to here two candidates took about as long
// A candidate that was set aside is tried again after this many times the calls so far, at least and at most. The new
// trial may take this share of the time in between.
constexpr double patience = 2, longest_patience = 8, retried_share = 0.02;
constexpr int retried = 4, retried_near = 16;  // calls in the new trial; if the two took about as long
constexpr int assumed = 2;  // calls that a candidate counts as having had if its time was learnt elsewhere
constexpr int many = 48;    // calls that are likely to include some of each size
constexpr double worth = 4;
constexpr double first_call = 1e-3;  // seconds more than the best, for a candidate's first call to make things ready

// For records of at most `calls` calls: how many times faster a candidate must seem to be taken, and how many times
// slower to be dropped.
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

// Bytes; the size of smaller exchanges does not matter.
constexpr double smallest = 256;

std::int64_t in_quarters(double log2) { return std::llround(4 * log2); }

// A number that is the same on every rank, but that nobody can foresee.
std::uint64_t chance(std::span<const std::int64_t> terms) {
  std::uint64_t mixed = 0;
  for (const std::int64_t term : terms) mixed = (mixed ^ static_cast<std::uint64_t>(term)) * 0x9E3779B97F4A7C15U;
  return mixed ^ mixed >> 32;
}

}  // namespace

contest::contest() : until_agreement_(cold_calls), timed_left_(cold_calls) { records_[native].open = true; }

void contest::wait_first(int calls) {
  until_agreement_ = calls;
  timed_left_ = std::min((calls + 2) / 3, first_timed);
  unmeasured_ = untimed_left_ = calls - timed_left_;
}

double contest::native_seconds() const {
  const double mean = records_[native].mean;
  const double seen = now_[native].calls() ? now_[native].mean(usual_, native) : usual_.mean(native);
  return static_cast<double>(calls_) * (mean > 0 ? mean : seen);
}

void contest::recent_load::add(double bytes) {
  constexpr double remembered_loads = 16;
  calls = std::min(calls + 1, remembered_loads);
  mean += (bytes - mean) / calls;
  mean_log += (std::log2(std::max(smallest, bytes)) - mean_log) / calls;
}

void contest::took(double seconds, double bytes, double now) {
  const int candidate = next();
  ++calls_;
  recent_.add(bytes);
  if (calls_ > unmeasured_) {
    const int size = size_mix::class_of(bytes);
    usual_.add(candidate, size, seconds);
    const auto at = static_cast<std::size_t>(candidate);
    if (now_.size() <= at) now_.resize(at + 1);
    now_[at].add(size, seconds, usual_.mean(candidate, size));
  }
  if (trial_left_ > 0) due_ = --trial_left_ == 0;
  else if (untimed_left_ > 0) --untimed_left_;
  else if (timed_left_ > 0 && --timed_left_ == 0) end_wait(now);
}

// The first half of a stretch does not count: it takes ranks some calls to get into step behind an agreement.
void contest::end_wait(double now) {
  due_ = !headway_.is_on() || std::exchange(is_in_step_, !is_in_step_);
  if (due_) return;
  stepped_at_ = now;
  stepped_call_ = calls_;
  rest_for(headway_.calls() / 2, 1);
}

void contest::gave_way(bool passed) {
  close(next());
  calls_ += !passed;
  trial_left_ = untimed_left_ = timed_left_ = 0;
  due_ = true;
}

void contest::postpone() {
  due_ = false;
  if (headway_.is_on()) return lengthen_stretch();
  wait_for(std::max(until_agreement_, std::min(longest_distance, 2 * until_agreement_)));
}

void contest::lengthen_stretch() {
  is_in_step_ = true;
  rest_for(longer_stretch, 1);
}

void contest::agree_within(int calls) {
  const int left = untimed_left_ + timed_left_;
  const bool waits = left > 0 && trial_left_ == 0;
  trial_left_ = 0;
  const int wait = waits ? std::min(left, calls) : calls;
  rest_for(wait, timed_of(wait));
}

void contest::write(std::span<std::int64_t> terms, double now) {
  due_ = false;
  timed_left_ = 0;  // until agreed()
  now_.resize(most_candidates);
  for (int i = 0; i < most_candidates; ++i) {
    const trial_times& now = now_[static_cast<std::size_t>(i)];
    reported_[i] = now.calls();
    terms[i] = nanoseconds(reported_[i] ? now.mean(usual_, i) : as_sizes_are_now(i));
    if (reported_[i]) usual_at_trial_[i] = usual_.mean(i);
  }
  passed_seconds_ = static_cast<double>(passed_ - std::exchange(reported_passed_, passed_)) * terms[best_] * 1e-9;
  terms[load_term] = in_quarters(std::log2(std::max(1.0, recent_.mean)));
  terms[usual_load_term] = in_quarters(recent_.mean_log);
  const auto calls = static_cast<double>(std::max<std::int64_t>(1, calls_ - stepped_call_));
  terms[pace_term] = stepped_at_ > 0 ? nanoseconds((now - stepped_at_) / calls) : 0;
  now_.assign(1, {});
}

// Seconds of a call of a candidate without new calls. The sizes of calls may have changed since its last trial.
double contest::as_sizes_are_now(int candidate) const {
  const double then = usual_at_trial_[candidate], now = then > 0 && usual_.varies() ? usual_.mean(candidate) : then;
  return records_[candidate].at_trial * (then > 0 ? now / then : 1);
}

void contest::agreed(std::span<const std::int64_t> terms, double allowance, double now) {
  notice_change(terms);
  excess_ = 0;
  for (int i = 0; i < most_candidates; ++i)
    if (reported_[i]) take_in(i, reported_[i], static_cast<double>(terms[i]) * 1e-9);
    else if (records_[i].calls > 0) records_[i].mean = static_cast<double>(terms[i]) * 1e-9;
  decide(terms);
  stepped_at_ = now;
  stepped_call_ = calls_;
  is_in_step_ = false;
  if (headway_.is_on()) return rest_for(headway_.calls() / 2, 1);
  plan(allowance);
}

// Decides who serves now. A candidate takes over by what calls take, because a gain should come soon. Later it has to show
// that the program goes on faster; and at once if it failed in this before, or if it comes late and promises little.
void contest::decide(std::span<const std::int64_t> terms) {
  if (headway_.is_on()) return go_on_comparing(static_cast<double>(terms[pace_term]) * 1e-9);
  const int choice = choose();
  const bool is_due = choice == best_ ? calls_ >= compare_again_ : records_[choice].delays || comes_late(choice);
  if (choice != native && is_due) return compare_headway(choice, terms);
  if (choice != best_) take(choice);
}

bool contest::comes_late(int candidate) const {
  return calls_ >= fewest_until_compared && records_[native].mean < clearly_less * records_[candidate].mean;
}

void contest::take(int candidate) {
  compare_again_ = next_comparison();
  take_up(records_[std::exchange(best_, candidate)]);  // its times may be out of date
  suspects_change_ = false;
  until_agreement_ = first_timed;
}

std::int64_t contest::next_comparison() const {
  return std::max(until_compared * calls_, calls_ + fewest_until_compared);
}

void contest::compare_headway(int candidate, std::span<const std::int64_t> terms) {
  const std::int64_t pace = terms[pace_term] > 0 ? terms[pace_term] : terms[native];
  headway_.begin(candidate, chance(terms), static_cast<double>(pace) * 1e-9, calls_);
  settled_ = suspects_change_ = false;
  choice_ = best_;
  best_ = headway_.is_candidates() ? candidate : rival();
}

void contest::go_on_comparing(double seconds) {
  const int candidate = headway_.candidate(), other = rival();
  const headway::verdict found = headway_.ended(seconds);
  const bool serves = headway_.is_on() ? headway_.is_candidates() : found == headway::verdict::ahead;
  best_ = serves ? candidate : other;
  if (headway_.is_on()) return;
  until_agreement_ = first_timed;
  record& r = records_[candidate];
  r.delays = r.dropped = !serves;
  (serves ? compare_again_ : r.again) = next_comparison();
}

void contest::stop_comparing() {
  best_ = choice();
  headway_.stop();
}

void contest::take_in(int candidate, int calls, double mean) {
  record& r = records_[candidate];
  const std::int64_t passed = candidate == best_ ? std::exchange(passed_, 0) : 0;
  if (passed > 0) reported_passed_ = 0;
  if (candidate != native) excess_ += static_cast<double>(calls + passed) * excess_of(mean);
  const int before = calls_that_count(r, calls, mean);
  r.mean = r.at_trial = (r.mean * before + mean * calls) / (before + calls);
  r.calls = before + calls;
  r.all_calls += calls;
  if (calls >= few && (!r.least || mean < r.least)) r.least = mean;
}

// A change that is seen once may be chance, such as a few large calls or a disturbance of the machine, so the ranks
// only look again soon. If they then see a change again, everything starts over.
void contest::notice_change(std::span<const std::int64_t> terms) {
  const std::int64_t load = terms[usual_load_term];
  if (!usual_load_) usual_load_ = load;
  if (!suspects_change_) unsuspected_ = records_[best_].mean;
  const double best = static_cast<double>(terms[best_]) * 1e-9;
  double change = 1;
  if (std::abs(load - usual_load_) >= 4) change = std::exp2(static_cast<double>(load - usual_load_) / 4);
  else if (slower_than_before(reported_[best_], best)) change = best / unsuspected_;
  const bool was_suspected = std::exchange(suspects_change_, change != 1);
  if (change == 1) return;
  until_agreement_ = first_timed / 2;
  if (!was_suspected) return;
  usual_load_ = load;
  suspects_change_ = false;
  start_over(change);
}

// How many of the earlier calls count. The first call of a candidate makes things ready, and counts only until there
// are others. Disturbances of the machine only add time, so calls that took far less than the earlier ones replace
// these.
int contest::calls_that_count(const record& r, int calls, double mean) {
  const bool disturbed = calls >= few && mean < r.mean / clearly_less;
  return r.all_calls == 1 || disturbed ? 0 : std::min(r.calls, remembered);
}

double contest::excess_of(double mean) const {
  const record& r = records_[native];
  if (!r.calls || !r.least) return 0;  // the MPI's own is to be measured anew
  return mean > r.mean ? mean - r.mean : std::min(0.0, mean - r.least);
}

bool contest::slower_than_before(int calls, double mean) const {
  const record& r = records_[best_];
  return settled_ && calls >= 8 && r.calls >= 8 && unsuspected_ > 0 && mean > changed * unsuspected_;
}

// The measured times are out of date, so everything is tried again. Until then all candidates count as changed alike.
void contest::start_over(double factor) {
  for (record& r : records_) {
    r.at_trial = r.mean *= factor;
    r.least = 0;
    r.calls = 0;
    r.dropped = r.delays = false;
    r.again = 0;
    r.batch = 1;
  }
  stop_comparing();
  usual_.count_as(0.01);
  until_agreement_ = first_timed;
  settled_ = false;
}

double contest::proof(int candidate) const {
  const int calls = records_[candidate].calls / (scattered_ ? 4 : 1);
  return candidate == likely_ ? std::min(1.1, with(calls).to_take) : with(calls).to_take;
}

double contest::limit(int candidate) const { return with(records_[candidate].calls / (scattered_ ? 4 : 1)).to_drop; }

// The MPI's own needs no proof once it was called often enough.
int contest::choose() const {
  int least = best_;
  const auto cost = [&](int i) {
    const record& r = records_[i];
    if (i == best_ || (i == native && r.calls >= retried_near - 1)) return r.mean;
    return r.mean * (best_ == native ? std::max(proof(i), worthwhile) : proof(i));
  };
  for (int i = 0; i < most_candidates; ++i)
    if (records_[i].open && !records_[i].dropped && records_[i].calls && cost(i) < cost(least)) least = i;
  return least;
}

bool contest::worth_trying(int candidate) {
  record& r = records_[candidate];
  if (!r.open || candidate == best_) return false;
  if (r.again > 0 && calls_ >= r.again) take_up(r);
  if (r.again > 0) return false;
  if (r.anew) return true;
  const double best = records_[best_].mean;
  const bool is_near = r.mean <= limit(candidate) * best || (r.all_calls == 1 && r.mean - best < first_call);
  r.dropped = r.calls > 0 && !is_near;
  if (r.dropped || r.calls >= enough || !pays_to_know(candidate)) leave(r);
  return r.again == 0;
}

// Whether as many calls as there were would gain, at best, `worth` times what a trial and its agreement cost.
bool contest::pays_to_know(int candidate) const {
  const record& r = records_[candidate];
  const double best = records_[best_].mean;
  const double hoped = best - r.mean / (r.all_calls < warm ? limit(candidate) : proof(candidate));
  const double price = 2 * agreement_ + best + r.batch * std::max(0.0, r.mean - best);
  return r.calls < few || (scattered_ && r.all_calls < many) || static_cast<double>(calls_) * hoped > worth * price;
}

// Has the candidate tried again. What was measured before then hardly counts. After exchanges by another one its first
// calls take longer, so a few calls would not do if the two are near each other.
void contest::take_up(record& r) {
  r.again = 0;
  r.dropped = false;
  r.anew = true;
  r.batch = r.mean < near * records_[best_].mean ? retried_near : retried;
  r.calls = std::min(r.calls, few - 1);
}

void contest::leave(record& r) {
  const double best = std::max(1e-9, records_[best_].mean), calls = static_cast<double>(calls_);
  const double paid_after = retried * (r.mean - best) / (retried_share * best);
  r.again = calls_ + std::llround(std::clamp(paid_after, (patience - 1) * calls, (longest_patience - 1) * calls));
}

// How many calls of the candidate's next trial the ledger allows. A first call also made things ready, which may have
// been half of it. The MPI's own may always be tried: a job without Shoal would have paid for it too.
int contest::affordable(int candidate, double allowance) const {
  const record& r = records_[candidate];
  if (candidate == native) return r.batch;
  const double best = records_[best_].mean, beyond = r.mean - best;
  const double readying = r.all_calls == 1 ? std::min(first_call, beyond / 2) : 0;
  const double more = r.calls ? std::max(0.02 * best, beyond - readying) : best;
  return more > 0 ? static_cast<int>(std::clamp(allowance / more, 0.0, static_cast<double>(r.batch))) : r.batch;
}

// Plans the next trial: of all candidates that are worth it and allowed, the one that was tried least, the likely one
// first.
void contest::plan(double allowance) {
  int pick = best_;
  settled_ = true;
  for (int i = 0; i < most_candidates; ++i) {
    if (!worth_trying(i)) continue;
    settled_ = false;
    const auto order = [&](int k) { return records_[k].calls - (k == likely_ ? 1 : 0); };
    if (affordable(i, allowance) > 0 && (pick == best_ || order(i) < order(pick))) pick = i;
  }
  if (pick == best_) return wait_longer(allowance);
  record& r = records_[pick];
  trial_ = pick;
  trial_left_ = affordable(pick, allowance);
  if (trial_left_ > 1) skip_one();
  r.anew = false;
  r.batch = std::min(longest_trial, 4 * r.batch);
}

// Whether the contest has settled on the MPI's own although a candidate that may serve was tried.
bool contest::has_lost() const {
  const auto tried = [](const record& r) { return r.open && r.all_calls > assumed; };
  return settled_ && best_ == native && std::any_of(records_.begin() + 1, records_.end(), tried);
}

// Plans an agreement without a trial, after more calls than the last time. However long agreements take, they come so
// rarely that they never take more of the calls' time than the ledger allows.
void contest::wait_longer(double allowance) {
  const double call = std::max(1e-7, records_[best_].mean);
  const double longest = std::max(double{longest_distance}, std::min(1e8, agreement_ / (ledger::share * call)));
  const auto calls = [&](double share) {
    return static_cast<int>(std::clamp(agreement_ / (share * call), 32.0, longest));
  };
  const double late = has_lost() ? lost_share : late_share;
  const int soonest = calls(allowance > agreement_ ? early_share : late) / 2;
  wait_for(std::clamp(2 * until_agreement_, soonest, calls(late)));
}

void contest::wait_for(int calls) {
  until_agreement_ = calls;
  rest_for(calls, timed_of(calls));
}

int contest::timed_of(int calls) { return std::min(calls, std::max(first_timed, calls / timed_part)); }

// Only the last of the calls are timed, for the agreement.
void contest::rest_for(int calls, int timed) {
  timed_left_ = timed;
  untimed_left_ = calls - timed;
  skip_one();
}

// The next call is not measured, unless it is the candidate's first: it finds caches and ranks as another candidate or
// an agreement left them.
void contest::skip_one() {
  if (records_[next()].calls > 0) unmeasured_ = calls_ + 1;
}

void contest::open(int candidate, bool likely) {
  if (records_[candidate].open) return;
  records_[candidate].open = true;
  if (likely) likely_ = candidate;
  settled_ = false;
}

void contest::try_anew() {
  for (int i = 0; i < most_candidates; ++i)
    if (i != best_ && records_[i].calls > 0) take_up(records_[i]);
}

void contest::close(int candidate) {
  records_[candidate].open = false;
  if (headway_.candidate() == candidate || choice() == candidate) stop_comparing();
  if (best_ == candidate) {
    best_ = native;
    try_anew();  // others were set aside because this one was faster
  }
  if (trial_ == candidate && trial_left_ > 0) agree_within(trial_left_);
}

void contest::assume(int candidate, double seconds) {
  record& r = records_[candidate];
  if (r.calls > 0) return;
  r.mean = r.at_trial = r.least = seconds;
  r.calls = assumed;
  r.all_calls = assumed;
}

void contest::prefer(int candidate) {
  best_ = candidate;
  likely_ = candidate;
  compare_again_ = next_comparison();
}

}  // namespace shoal
