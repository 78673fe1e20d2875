#include "select/measured_exchanges.hpp"

#include <algorithm>

namespace shoal {

namespace {

double on_lines(const std::vector<measured_exchanges::point>& points, std::size_t spec, double block) {
  std::size_t upper = 1;
  while (upper + 1 < points.size() && static_cast<double>(points[upper].block) <= block) ++upper;
  const measured_exchanges::point &a = points[upper - 1], &b = points[upper];
  const double slope = std::max(0.0, b.seconds[spec] - a.seconds[spec]) / static_cast<double>(b.block - a.block);
  return a.seconds[spec] + slope * std::max(0.0, block - static_cast<double>(a.block));
}

}  // namespace

double measured_exchanges::seconds(std::size_t spec, const block_mix& blocks) const {
  if (sparse.empty()) return on_lines(points, spec, blocks.bytes * blocks.nonempty_share);
  const double few = on_lines(sparse, spec, blocks.bytes), all = on_lines(points, spec, blocks.bytes);
  const double way = std::clamp((blocks.nonempty_share - nonempty_share) / (1 - nonempty_share), 0.0, 1.0);
  return few + way * (all - few);
}

std::vector<block_mix> measured_exchanges::mixes() const {
  std::vector<block_mix> all;
  for (const point& p : points) all.push_back({static_cast<double>(p.block), 1});
  for (const point& p : sparse) all.push_back({static_cast<double>(p.block), nonempty_share});
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

}  // namespace shoal
