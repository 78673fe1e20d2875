#include "algorithms/waves.hpp"

#include <algorithm>

namespace shoal {

namespace {

// What a step sends: one message to the rank `distance` further on, which for some ranks is in the same node.
wave step_of(const digit_system& system, int digit, int z, const equal_nodes& at) {
  const std::int64_t distance = z * system.weight(digit);
  const double away = static_cast<double>(std::min(distance, at.ranks() - distance));
  const double leaving = at.nodes > 1 ? std::min(1.0, away / at.per_node) : 0;
  const auto blocks = static_cast<double>(system.blocks_of_step(digit, z));
  const bool passes = system.weight(digit + 1) + distance < at.ranks();
  return {1 - leaving, blocks * (1 - leaving), leaving, blocks * leaving, passes ? 1.0 : 0.0};
}

void add(wave& all, const wave& one) {
  all.local_messages += one.local_messages;
  all.local += one.local;
  all.crossing_messages += one.crossing_messages;
  all.crossing += one.crossing;
  all.announced += one.announced;
}

}  // namespace

std::vector<wave> linear_waves(const equal_nodes& at, int block_count) {
  const int count = (at.ranks() - 1 + block_count - 1) / block_count;
  if (count == 0) return {};  // dividing by it would end programs that let floating-point errors trap
  const double local = (at.per_node - 1.0) / count, crossing = double(at.ranks() - at.per_node) / count;
  return std::vector<wave>(count, {local, local, crossing, crossing, 0});
}

std::vector<wave> digit_waves(const digit_system& system, const equal_nodes& at, int inflight) {
  std::vector<wave> all;
  for (int digit = 0; digit < system.digits(); ++digit)
    for (int z = 1; z <= system.steps_of_digit(digit); ++z) {
      if ((z - 1) % inflight == 0) all.emplace_back();
      add(all.back(), step_of(system, digit, z, at));
    }
  return all;
}

}  // namespace shoal
