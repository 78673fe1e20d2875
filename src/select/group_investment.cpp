#include "select/group_investment.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "select/ledger.hpp"

namespace shoal {

namespace {

// The share of the calls' time so far that may be spent at once: the program may end soon.
constexpr double share_at_once = 0.01;
// What Shoal makes costs as much as this many looks. It is two communicators and what is found out on them: 2 ms with
// Open MPI and 5 ms with MPICH if 8 ranks share 2 cores.
constexpr double looks = 16, usual_price = 2e-3;
constexpr double soonest = 1.125, latest = 64, unknown = 4;  // when to look again, as multiples of the calls so far

constexpr double nanosecond = 1e-9;

}  // namespace

void group_investment::count(std::int64_t bytes, double seconds) {
  of_last_ = std::clamp(bytes / moved_by_one, std::int64_t{1}, most_of_one);
  calls_ += of_last_;
  in_calls_ += seconds;
  timed_seconds_ += seconds;
  ++timed_;
}

int group_investment::untimed_left() const {
  const std::int64_t left = (next_ - calls_) / of_last_ - timed_before_look;
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, std::numeric_limits<int>::max()));
}

double group_investment::have_passed(int calls) {
  const double before = end_passed();
  passed_ = calls;
  calls_ += calls * of_last_;
  return before;
}

void group_investment::take_back() {
  calls_ -= of_last_;
  --passed_;
}

double group_investment::end_passed() {
  const double seconds = timed_ > 0 ? passed_ * timed_seconds_ / timed_ : 0;
  in_calls_ += seconds;
  passed_ = timed_ = 0;
  timed_seconds_ = 0;
  return seconds;
}

// The least of each number counts, and the ranks hear the largest, so each is said with a minus.
group_investment::numbers group_investment::said(double allowance) const {
  const auto least = [](double seconds) { return -std::llround(seconds / nanosecond); };
  return {least(in_calls_), least(allowance), least(look_)};
}

bool group_investment::pays(std::span<const std::int64_t> heard) {
  const double in_calls = -static_cast<double>(heard[0]) * nanosecond;
  const double allowance = -static_cast<double>(heard[1]) * nanosecond;
  const double price = -static_cast<double>(heard[2]) * nanosecond * looks;
  if (price > 0 && price <= allowance && price <= share_at_once * in_calls) return true;
  const double expected = price > 0 ? price : usual_price;
  const double enough = std::max(expected / share_at_once, in_calls + (expected - allowance) / ledger::share);
  const double times = in_calls > 0 ? enough / in_calls : unknown;
  next_ = std::llround(static_cast<double>(calls_) * std::clamp(times, soonest, latest));
  return false;
}

void group_investment::was_unheard() {
  if (std::exchange(was_unheard_, true)) never_again();
  else next_ = 2 * calls_;
}

}  // namespace shoal
