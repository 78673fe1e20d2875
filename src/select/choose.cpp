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

choice choose(const measured_exchanges& measured, const block_mix& blocks) {
  if (measured.specs.empty()) return {parse_selection("native"), measured.source + ": nothing else"};
  char text[80];
  const int length = std::snprintf(text, sizeof text, ", for %.0f bytes a block", blocks.bytes);
  const double empty = std::round(100 * (1 - blocks.full_share));
  if (empty > 0) std::snprintf(text + length, sizeof text - length, " and %.0f %% of blocks empty", empty);
  return chosen(measured, fastest(measured, blocks), blocks, measured.source + text + ": " + listed(measured, blocks));
}

}  // namespace shoal
