#include "select/group_investment.hpp"

#include <algorithm>
#include <cmath>

#include "select/ledger.hpp"

namespace shoal {

namespace {

// Of the time of the calls so far that may be spent at once: the program may end soon.
constexpr double share_at_once = 0.05;
// What is made costs so many looks: two communicators and what is found out on them, 2 ms with Open MPI and 5 ms with MPICH
// where 8 ranks share 2 cores.
constexpr double looks = 16;
constexpr double soonest = 4, latest = 64;  // as multiples of the calls so far

constexpr double nanosecond = 1e-9;

}  // namespace

// The least counts of each, so its negative is said.
group_investment::numbers group_investment::said(double in_calls, double allowance) const {
  const auto least = [](double seconds) { return -std::llround(seconds / nanosecond); };
  return {least(in_calls), least(allowance), least(look_)};
}

bool group_investment::pays(std::span<const std::int64_t> heard, std::int64_t calls) {
  const double in_calls = -static_cast<double>(heard[0]) * nanosecond;
  const double allowance = -static_cast<double>(heard[1]) * nanosecond;
  const double price = -static_cast<double>(heard[2]) * nanosecond * looks;
  if (price > 0 && price <= allowance && price <= share_at_once * in_calls) return true;
  const double enough = std::max(price / share_at_once, in_calls + (price - allowance) / ledger::share);
  const double times = price > 0 && in_calls > 0 ? enough / in_calls : soonest;
  next_ = calls * std::llround(std::clamp(times, soonest, latest));
  return false;
}

}  // namespace shoal
