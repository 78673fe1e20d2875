#include "select/headway.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace shoal {

namespace {

constexpr int pairs = 5;
// A stretch of the first pair lasts so many seconds, or as many as this share of the calls so far; but it has so many calls
// at least.
constexpr double long_enough = 1e-3, most_of_calls = 1.0 / 32, fewest_calls = 16;
// How many times faster a candidate has to be after so many pairs, or slower. One pair tells nothing: a disturbance of the
// machine lasts about as long as a stretch.
constexpr std::array<double, pairs + 1> clear = {1e9, 1e9, 1.3, 1.15, 1.08, 1.02};
constexpr double most_of_a_pair = 0.4;  // no pair tells of a larger logarithm

}  // namespace

void headway::begin(int candidate, std::uint64_t seed, double call, std::int64_t calls_so_far) {
  *this = {};
  candidate_ = candidate;
  seed_ = seed;
  const double enough = std::min(long_enough / std::max(call, 1e-9), most_of_calls * static_cast<double>(calls_so_far));
  first_calls_ = static_cast<int>(std::max(fewest_calls, enough));
}

bool headway::is_candidates() const { return ((seed_ >> stretch_ / 2) + static_cast<unsigned>(stretch_)) % 2 == 0; }

// The first two pairs are of one length; from then on it doubles.
int headway::calls() const { return first_calls_ << std::max(0, stretch_ / 2 - 1); }

headway::verdict headway::ended(double seconds) {
  seconds = std::max(seconds, 1e-9);
  const bool was_candidates = is_candidates();
  const double calls = this->calls();
  if (stretch_++ % 2 == 0) {
    before_ = seconds;
    return verdict::open;
  }
  const double faster = was_candidates ? std::log(before_ / seconds) : std::log(seconds / before_);
  won_ += faster > 0;
  weight_ += calls;
  lead_ += calls * std::clamp(faster, -most_of_a_pair, most_of_a_pair);
  const verdict found = judge();
  if (found != verdict::open) stop();
  return found;
}

// Most pairs have to agree with their mean: a long disturbance may hit a pair that weighs much.
headway::verdict headway::judge() const {
  const int done = stretch_ / 2;
  const double lead = lead_ / weight_, needed = std::log(clear[static_cast<std::size_t>(done)]);
  if (lead > needed && 2 * won_ > done) return verdict::ahead;
  return done == pairs || (lead < -needed && 2 * won_ < done) ? verdict::behind : verdict::open;
}

}  // namespace shoal
