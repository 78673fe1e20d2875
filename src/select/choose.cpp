#include "select/choose.hpp"

#include <cstdio>
#include <vector>

#include "algorithms/digits.hpp"

namespace shoal {

namespace {

// The MPI's own collective has to be this much faster: a prediction is not that exact.
constexpr double native_margin = 0.95;

struct candidate {
  std::string spec;
  double seconds;
};

// Above the square root of P only the linear exchange can be best (specification radix, section 7, item 2).
std::vector<candidate> candidates(int ranks, const calibration& cost, double block, double busiest) {
  std::vector<candidate> all{{"spread_out", cost.linear(block, busiest)}};
  for (int radix = 2; radix <= square_radix(ranks) && radix < ranks - 1; ++radix)
    all.push_back({"tuna:radix=" + std::to_string(radix), cost.radix(radix, block)});
  all.push_back({"native", cost.native(block, busiest) / native_margin});
  return all;
}

std::string microseconds(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f us", seconds * 1e6);
  return text;
}

std::pair<candidate, candidate> best_two(const std::vector<candidate>& all) {
  candidate best = all.front(), second{"", 1e300};
  for (std::size_t i = 1; i < all.size(); ++i) {
    if (all[i].seconds < best.seconds) {
      second = best;
      best = all[i];
    } else if (all[i].seconds < second.seconds) {
      second = all[i];
    }
  }
  return {best, second};
}

}  // namespace

choice choose_unmeasured(bool crowded) {
  if (crowded) return {parse_selection("spread_out"), "first exchanges, before anything is measured; ranks outnumber cores"};
  return {parse_selection("native"), "first exchanges, before anything is measured"};
}

choice choose(int ranks, const calibration& cost, const features& sizes) {
  const double block = sizes.mean_block();
  const auto [best, second] = best_two(candidates(ranks, cost, block, static_cast<double>(sizes.most_sent)));
  std::string reason = "predicted " + microseconds(best.seconds) + " for " + std::to_string(static_cast<long>(block)) +
                       " bytes a block on average";
  if (!second.spec.empty()) reason += "; next " + second.spec + " with " + microseconds(second.seconds);
  return {parse_selection(best.spec), reason};
}

bool sizes_do_not_matter(int ranks, const calibration& cost) {
  return best_two(candidates(ranks, cost, 0, 0)).first.spec.rfind("tuna", 0) != 0;
}

}  // namespace shoal
