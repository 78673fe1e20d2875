#include "select/group_sizes.hpp"

#include <algorithm>
#include <limits>

namespace shoal {

namespace {

constexpr std::int64_t prime = 2147483647, factor = 1103515245;
constexpr std::int64_t nothing = std::numeric_limits<std::int64_t>::min() / 2;

std::int64_t term(int sender, std::int64_t bytes) { return (bytes % prime) * ((sender + 1) * factor % prime) % prime; }

void include(direction_sizes& d, int sender, std::int64_t bytes) {
  d.largest = std::max(d.largest, bytes);
  d.smallest = sender == 0 ? bytes : std::min(d.smallest, bytes);
}

}  // namespace

void group_sizes::sends(int direction, int sender, std::int64_t bytes) {
  direction_sizes& d = toward[direction];
  d.largest = d.smallest = bytes;
  d.sent_terms = term(sender, bytes);
}

void group_sizes::expects(int direction, int sender, std::int64_t bytes) {
  direction_sizes& d = toward[direction];
  include(d, sender, bytes);
  d.most_expected = d.least_expected = d.most_expected + term(sender, bytes);
}

bool group_sizes::matching() const {
  return std::all_of(toward.begin(), toward.end(), [](const direction_sizes& d) {
    return d.sent_terms == d.most_expected && d.sent_terms == d.least_expected;
  });
}

group_sizes agree_on(const group_sizes& mine, std::array<bool, 2> sending, agreement& agree) {
  std::array<std::int64_t, 12> values{};
  std::array<combine, 12> combined;
  combined.fill(combine::maximum);
  for (int d = 0; d < 2; ++d) {
    const direction_sizes& m = mine.toward[d];
    combined[5 * d] = combine::sum;
    values[5 * d] = m.sent_terms;
    values[5 * d + 1] = sending[d] ? nothing : m.most_expected;
    values[5 * d + 2] = sending[d] ? nothing : -m.least_expected;
    values[5 * d + 3] = m.largest;
    values[5 * d + 4] = -m.smallest;
  }
  values[10] = mine.on_device;
  values[11] = mine.invalid;
  agree.reach(values, combined);
  group_sizes all{{}, values[10] != 0, values[11] != 0};
  for (int d = 0; d < 2; ++d) {
    const auto* v = &values[5 * d];
    all.toward[d] = {v[3], -v[4], v[0], v[1], -v[2]};
  }
  return all;
}

}  // namespace shoal
