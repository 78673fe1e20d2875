#include "select/choose.hpp"

#include <algorithm>
#include <cstdio>

namespace shoal {

namespace {

// To be preferred to the MPI's own an exchange has to be this much faster: measurements are not more exact.
constexpr double margin = 1.05;

double handicapped(const measured_exchanges& measured, std::size_t spec, double block) {
  return measured.seconds(spec, block) * (spec == measured.native ? 1 : margin);
}

template <typename Cost>
std::size_t least(const measured_exchanges& measured, Cost cost) {
  std::size_t best = 0;
  for (std::size_t spec = 1; spec < measured.specs.size(); ++spec)
    if (cost(spec) < cost(best)) best = spec;
  return best;
}

std::size_t fastest(const measured_exchanges& measured, double block) {
  return least(measured, [&](std::size_t spec) { return handicapped(measured, spec, block); });
}

double fastest_seconds(const measured_exchanges& measured, double block) {
  return handicapped(measured, fastest(measured, block), block);
}

template <typename Cost>
double regret(const measured_exchanges& measured, Cost cost) {
  double largest = 0;
  for (const measured_exchanges::point& p : measured.points) {
    const auto block = static_cast<double>(p.block);
    largest = std::max(largest, cost(block) / fastest_seconds(measured, block));
  }
  return largest;
}

std::string listed(const measured_exchanges& measured, double block) {
  std::string text;
  for (std::size_t spec = 0; spec < measured.specs.size(); ++spec) {
    char one[40];
    std::snprintf(one, sizeof one, " %.1f us", measured.seconds(spec, block) * 1e6);
    text += (spec ? ", " : "") + measured.specs[spec] + one;
  }
  return text;
}

}  // namespace

choice choose_unmeasured(bool crowded) {
  const std::string why = "the first exchanges on a communicator, before any is measured";
  if (crowded) return {parse_selection("spread_out"), why + "; ranks outnumber cores"};
  return {parse_selection("native"), why};
}

choice choose(const measured_exchanges& measured, const features& sizes) {
  const double block = sizes.mean_block();
  char text[80];
  std::snprintf(text, sizeof text, "measured, for %.0f bytes a block: ", block);
  return {parse_selection(measured.specs[fastest(measured, block)]), text + listed(measured, block)};
}

std::optional<choice> choose_unasked(int ranks, const measured_exchanges& measured) {
  const hockney machine = fit(ranks, measured);
  const double asking = agreement::rounds(ranks) * (machine.latency + machine.per_message);
  const auto regret_of = [&](std::size_t spec) {
    return regret(measured, [&](double block) { return handicapped(measured, spec, block); });
  };
  const std::size_t safest = least(measured, regret_of);
  const double without = regret_of(safest);
  const double with = regret(measured, [&](double block) { return fastest_seconds(measured, block) + asking; });
  if (with < without) return std::nullopt;
  char text[160];
  std::snprintf(text, sizeof text,
                "whatever the sizes: at most %.2f times the best, asking for them up to %.2f times; measured, for the "
                "smallest blocks: ",
                without, with);
  const auto smallest = static_cast<double>(measured.points.front().block);
  return choice{parse_selection(measured.specs[safest]), text + listed(measured, smallest)};
}

}  // namespace shoal
