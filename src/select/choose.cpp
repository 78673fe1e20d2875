#include "select/choose.hpp"

#include <algorithm>
#include <cmath>

#include "select/plain_text.hpp"

namespace shoal {

namespace {

// An algorithm is preferred to the MPI's own only if it is this many times faster: measurements are not more exact.
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
  return measured.specs[spec] + " " + with_decimals(measured.seconds(spec, blocks) * 1e6, 1) + " us";
}

std::string listed(const measured_exchanges& measured, const block_mix& blocks) {
  std::string text;
  for (std::size_t spec = 0; spec < measured.specs.size(); ++spec)
    text += (spec ? ", " : "") + named(measured, spec, blocks);
  return text;
}

// The choice of `spec` for such blocks, with what would be best without `spec`.
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
  if (measured.specs.empty()) return {parse_selection("native"), measured.source + ": only the MPI's own is known"};
  const double empty = std::round(100 * (1 - blocks.nonempty_share));
  std::string text = ", for " + with_decimals(blocks.bytes, 0) + " bytes a block";
  if (empty > 0) text += " and " + with_decimals(empty, 0) + " % of blocks empty";
  return chosen(measured, fastest(measured, blocks), blocks, measured.source + text + ": " + listed(measured, blocks));
}

}  // namespace shoal
