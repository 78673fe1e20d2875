#include "select/choose.hpp"

#include <algorithm>
#include <cstdio>

namespace shoal {

namespace {

// To be preferred to the MPI's own an exchange has to be this much faster: measurements are not more exact.
constexpr double margin = 1.05;

double handicapped(const measured_exchanges& measured, std::size_t spec, double block) {
  return measured.seconds(spec, block) * (measured.specs[spec] == "native" ? 1 : margin);
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

std::string named(const measured_exchanges& measured, std::size_t spec, double block) {
  char time[40];
  std::snprintf(time, sizeof time, " %.1f us", measured.seconds(spec, block) * 1e6);
  return measured.specs[spec] + time;
}

std::string listed(const measured_exchanges& measured, double block) {
  std::string text;
  for (std::size_t spec = 0; spec < measured.specs.size(); ++spec)
    text += (spec ? ", " : "") + named(measured, spec, block);
  return text;
}

// `spec` for blocks of this size, and what would be best without it.
choice chosen(const measured_exchanges& measured, std::size_t spec, double block, const std::string& reason) {
  choice made{parse_selection(measured.specs[spec]), reason, measured.seconds(spec, block), "", 0};
  if (measured.specs.size() == 1) return made;
  const measured_exchanges others = measured.without(measured.specs[spec]);
  const std::size_t next = fastest(others, block);
  made.next = others.specs[next];
  made.next_seconds = others.seconds(next, block);
  return made;
}

}  // namespace

std::vector<std::string> likely(const measured_exchanges& measured, std::optional<double> block) {
  constexpr std::size_t most = 4;
  constexpr double too_slow = 2;
  std::vector<std::pair<double, std::string>> order;
  for (std::size_t spec = 0; spec < measured.specs.size(); ++spec) {
    const auto cost = [&](double size) { return handicapped(measured, spec, size); };
    order.emplace_back(block ? cost(*block) : regret(measured, cost), measured.specs[spec]);
  }
  std::sort(order.begin(), order.end());
  std::vector<std::string> specs;
  for (const auto& [cost, spec] : order)
    if (specs.size() < most && cost <= too_slow * order.front().first) specs.push_back(spec);
  return specs;
}

choice choose_unmeasured(bool crowded) {
  const std::string why = "the first exchanges on a communicator, before any is measured";
  if (crowded) return {parse_selection("spread_out"), why + "; ranks outnumber cores"};
  return {parse_selection("native"), why};
}

choice choose(const measured_exchanges& measured, const features& sizes) {
  if (measured.specs.empty()) return {parse_selection("native"), measured.source + ": nothing else"};
  const double block = sizes.mean_block();
  char text[40];
  std::snprintf(text, sizeof text, ", for %.0f bytes a block: ", block);
  return chosen(measured, fastest(measured, block), block, measured.source + text + listed(measured, block));
}

std::optional<choice> choose_unasked(const measured_exchanges& measured) {
  const auto regret_of = [&](std::size_t spec) {
    return regret(measured, [&](double block) { return handicapped(measured, spec, block); });
  };
  const std::size_t safest = least(measured, regret_of);
  const double without = regret_of(safest);
  const double with =
      regret(measured, [&](double block) { return fastest_seconds(measured, block) + measured.asking; });
  if (with < without) return std::nullopt;
  char text[160];
  std::snprintf(text, sizeof text,
                "whatever the sizes: at most %.2f times the best, asking for them up to %.2f times; ", without, with);
  const auto smallest = static_cast<double>(measured.points.front().block);
  return chosen(measured, safest, smallest,
                text + measured.source + ", for the smallest blocks: " + listed(measured, smallest));
}

}  // namespace shoal
