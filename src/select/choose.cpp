#include "select/choose.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace shoal {

namespace {

// To be preferred to the MPI's own an exchange has to be this much faster: measurements are not more exact.
constexpr double margin = 1.05;

double handicapped(const measured_exchanges& measured, std::size_t spec, const block_mix& blocks) {
  return measured.seconds(spec, blocks) * (measured.specs[spec] == "native" ? 1 : margin);
}

template <typename Cost>
std::size_t least(const measured_exchanges& measured, Cost cost) {
  std::size_t best = 0;
  for (std::size_t spec = 1; spec < measured.specs.size(); ++spec)
    if (cost(spec) < cost(best)) best = spec;
  return best;
}

std::size_t fastest(const measured_exchanges& measured, const block_mix& blocks) {
  return least(measured, [&](std::size_t spec) { return handicapped(measured, spec, blocks); });
}

double fastest_seconds(const measured_exchanges& measured, const block_mix& blocks) {
  return handicapped(measured, fastest(measured, blocks), blocks);
}

template <typename Cost>
double regret(const measured_exchanges& measured, Cost cost) {
  double largest = 0;
  for (const block_mix& blocks : measured.mixes())
    largest = std::max(largest, cost(blocks) / fastest_seconds(measured, blocks));
  return largest;
}

// The spec that is far ahead of all others at one size; none: their number.
std::size_t far_ahead(const measured_exchanges::point& at) {
  constexpr double far = 1.3;
  const auto best = std::min_element(at.seconds.begin(), at.seconds.end());
  const auto near = std::count_if(at.seconds.begin(), at.seconds.end(), [&](double s) { return s < far * *best; });
  return near > 1 ? at.seconds.size() : static_cast<std::size_t>(best - at.seconds.begin());
}

std::string named(const measured_exchanges& measured, std::size_t spec, const block_mix& blocks) {
  char time[40];
  std::snprintf(time, sizeof time, " %.1f us", measured.seconds(spec, blocks) * 1e6);
  return measured.specs[spec] + time;
}

std::string listed(const measured_exchanges& measured, const block_mix& blocks) {
  std::string text;
  for (std::size_t spec = 0; spec < measured.specs.size(); ++spec)
    text += (spec ? ", " : "") + named(measured, spec, blocks);
  return text;
}

// `spec` for such blocks, and what would be best without it.
choice chosen(const measured_exchanges& measured, std::size_t spec, const block_mix& blocks,
              const std::string& reason) {
  choice made{parse_selection(measured.specs[spec]), reason, measured.seconds(spec, blocks), "", 0};
  if (measured.specs.size() == 1) return made;
  const measured_exchanges others = measured.without(measured.specs[spec]);
  const std::size_t next = fastest(others, blocks);
  made.next = others.specs[next];
  made.next_seconds = others.seconds(next, blocks);
  return made;
}

}  // namespace

std::vector<std::int64_t> sizes_in_doubt(const std::vector<measured_exchanges::point>& points) {
  std::vector<std::int64_t> sizes;
  for (std::size_t i = 1; i < points.size(); ++i) {
    const measured_exchanges::point &a = points[i - 1], &b = points[i];
    const bool settled = far_ahead(a) == far_ahead(b) && far_ahead(a) < a.seconds.size();
    if (!settled) sizes.push_back(std::llround(std::sqrt(static_cast<double>(a.block) * static_cast<double>(b.block))));
  }
  return sizes;
}

std::vector<std::string> likely(const measured_exchanges& measured, const std::optional<block_mix>& blocks) {
  constexpr std::size_t most = 4;
  constexpr double too_slow = 2;
  std::vector<std::pair<double, std::string>> order;
  for (std::size_t spec = 0; spec < measured.specs.size(); ++spec) {
    const auto cost = [&](const block_mix& of) { return handicapped(measured, spec, of); };
    order.emplace_back(blocks ? cost(*blocks) : regret(measured, cost), measured.specs[spec]);
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

choice choose(const measured_exchanges& measured, const block_mix& blocks) {
  if (measured.specs.empty()) return {parse_selection("native"), measured.source + ": nothing else"};
  char text[80];
  const int length = std::snprintf(text, sizeof text, ", for %.0f bytes a block", blocks.bytes);
  const double empty = std::round(100 * (1 - blocks.full_share));
  if (empty > 0) std::snprintf(text + length, sizeof text - length, " and %.0f %% of blocks empty", empty);
  return chosen(measured, fastest(measured, blocks), blocks, measured.source + text + ": " + listed(measured, blocks));
}

unasked_choice choose_unasked(const measured_exchanges& measured) {
  const auto regret_of = [&](std::size_t spec) {
    return regret(measured, [&](const block_mix& blocks) { return handicapped(measured, spec, blocks); });
  };
  const std::size_t safest = least(measured, regret_of);
  const double without = regret_of(safest);
  const double with =
      regret(measured, [&](const block_mix& blocks) { return fastest_seconds(measured, blocks) + measured.asking; });
  char text[160];
  std::snprintf(text, sizeof text,
                "whatever the sizes: at most %.2f times the best, asking for them up to %.2f times; ", without, with);
  const block_mix smallest{static_cast<double>(measured.points.front().block)};
  return {chosen(measured, safest, smallest,
                 text + measured.source + ", for the smallest blocks: " + listed(measured, smallest)),
          with < without     ? asking::always
          : without > margin ? asking::at_times
                             : asking::never};
}

int calls_between(double asking_seconds, double call_seconds) {
  constexpr double share = 0.02;
  constexpr double most = 64;
  return static_cast<int>(std::ceil(std::clamp(asking_seconds / (share * call_seconds), 1.0, most)));
}

}  // namespace shoal
