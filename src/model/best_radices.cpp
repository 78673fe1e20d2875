#include "model/best_radices.hpp"

#include <limits>

namespace shoal {

namespace {

// The cost of a digit of weight `low`, below a digit of weight `high`. So it is not the top digit.
double digit_between(std::int64_t ranks, std::int64_t low, std::int64_t high, const digit_cost& cost) {
  const std::int64_t steps = high / low - 1, rest = ranks - high;  // step z passes blocks on if z * low < rest
  const std::int64_t blocks = ranks - (ranks / high * low + std::min(ranks % high, low));
  const std::int64_t metadata = std::min(steps, (rest - 1) / low);
  return cost.per_digit + cost.per_step * static_cast<double>(steps) + cost.per_block * static_cast<double>(blocks) +
         cost.per_metadata_step * static_cast<double>(metadata);
}

std::int64_t top_radix(std::int64_t ranks, std::int64_t low) { return (ranks + low - 1) / low; }

// All blocks that the top digit moves arrive, so no sizes are sent.
double top_digit(std::int64_t ranks, std::int64_t low, const digit_cost& cost) {
  return cost.per_digit + cost.per_step * static_cast<double>(top_radix(ranks, low) - 1) +
         cost.per_block * static_cast<double>(ranks - low);
}

}  // namespace

double cost_of(const digit_system& system, const digit_cost& cost) {
  return cost.per_digit * system.digits() + cost.per_step * static_cast<double>(system.steps()) +
         cost.per_block * static_cast<double>(system.blocks()) +
         cost.per_metadata_step * static_cast<double>(system.passing_steps());
}

priced_radices best_radices(int ranks, const digit_cost& cost) {
  if (ranks <= 1) return {};
  std::vector<double> least(ranks, std::numeric_limits<double>::infinity());  // by weight: the cost of all lower digits
  std::vector<int> from(ranks, 0);
  least[1] = 0;
  int last = 1;
  double best = std::numeric_limits<double>::infinity();
  for (std::int64_t low = 1; low < ranks; ++low) {
    for (std::int64_t high = 2 * low; high < ranks; high += low) {
      const double through = least[low] + digit_between(ranks, low, high, cost);
      if (through >= least[high]) continue;
      least[high] = through;
      from[high] = static_cast<int>(low);
    }
    const double whole = least[low] + top_digit(ranks, low, cost);
    if (whole >= best) continue;
    best = whole;
    last = static_cast<int>(low);
  }
  std::vector<int> radices{static_cast<int>(top_radix(ranks, last))};
  for (int weight = last; weight > 1; weight = from[weight]) radices.insert(radices.begin(), weight / from[weight]);
  return {radices, best};
}

}  // namespace shoal
