#include "select/calibration.hpp"

#include <algorithm>

#include "algorithms/digits.hpp"

namespace shoal {

namespace {

// Even the best overlap leaves a message this share of its average cost.
constexpr double least_share = 0.05;

double growth(const measured_exchanges& measured, std::size_t spec) {
  return std::max(0.0, measured.points.back().seconds[spec] - measured.points.front().seconds[spec]);
}

double on_lines(const std::vector<measured_exchanges::point>& points, std::size_t spec, double block) {
  std::size_t upper = 1;
  while (upper + 1 < points.size() && static_cast<double>(points[upper].block) < block) ++upper;
  const measured_exchanges::point &a = points[upper - 1], &b = points[upper];
  const double slope = std::max(0.0, b.seconds[spec] - a.seconds[spec]) / static_cast<double>(b.block - a.block);
  return a.seconds[spec] + slope * std::max(0.0, block - static_cast<double>(a.block));
}

}  // namespace

double measured_exchanges::seconds(std::size_t spec, const block_mix& blocks) const {
  if (sparse.empty()) return on_lines(points, spec, blocks.bytes * blocks.full_share);
  const double few = on_lines(sparse, spec, blocks.bytes), all = on_lines(points, spec, blocks.bytes);
  const double way = std::clamp((blocks.full_share - full_share) / (1 - full_share), 0.0, 1.0);
  return few + way * (all - few);
}

std::vector<block_mix> measured_exchanges::mixes() const {
  std::vector<block_mix> all;
  for (const point& p : points) all.push_back({static_cast<double>(p.block), 1});
  for (const point& p : sparse) all.push_back({static_cast<double>(p.block), full_share});
  return all;
}

measured_exchanges measured_exchanges::without(const std::string& spec) const {
  measured_exchanges rest = *this;
  const auto at = std::find(specs.begin(), specs.end(), spec) - specs.begin();
  if (at == static_cast<std::ptrdiff_t>(specs.size())) return rest;
  rest.specs.erase(rest.specs.begin() + at);
  for (auto* of : {&rest.points, &rest.sparse})
    for (point& p : *of) p.seconds.erase(p.seconds.begin() + at);
  return rest;
}

// Radix 2 waits after each of its K messages: K (latency + message). The linear exchange waits once:
// latency + (P-1) message. Their difference for large blocks gives the costs of bytes moved and of bytes copied.
hockney fit(int ranks, const measured_exchanges& measured) {
  const digit_system two(ranks, 2);
  const int peers = std::max(1, ranks - 1);
  const double straight = measured.points.front().seconds[measured.straight];
  const double both =
      measured.points.front().seconds[measured.radix_two] / static_cast<double>(std::max<std::int64_t>(1, two.steps()));
  const double least = least_share * straight / peers;
  const auto bytes = static_cast<double>(measured.points.back().block - measured.points.front().block);

  hockney machine;
  machine.per_message =
      ranks > 2 ? std::clamp((straight - both) / (peers - 1), least, std::max(least, both)) : both / 2;
  machine.latency = std::max(0.0, both - machine.per_message);
  machine.per_byte = growth(measured, measured.straight) / (peers * bytes);
  const double moved = machine.per_byte * bytes * static_cast<double>(two.blocks());
  const double copied = bytes * static_cast<double>(std::max<std::int64_t>(1, two.blocks() + peers));
  machine.per_copied_byte = std::max(0.0, growth(measured, measured.radix_two) - moved) / copied;
  return machine;
}

std::vector<std::string> worth_measuring(int ranks, const measured_exchanges& measured,
                                         const std::vector<std::int64_t>& blocks) {
  std::vector<std::string> fresh;
  const hockney machine = fit(ranks, measured);
  for (const std::int64_t block : blocks) {
    const std::string spec = best_flat(ranks, static_cast<double>(block), machine).spec;
    const auto known = [&](const std::vector<std::string>& all) {
      return std::count(all.begin(), all.end(), spec) > 0;
    };
    if (!known(measured.specs) && !known(fresh)) fresh.push_back(spec);
  }
  return fresh;
}

}  // namespace shoal
