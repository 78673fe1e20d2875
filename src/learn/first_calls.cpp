#include "learn/first_calls.hpp"

#include <algorithm>

#include "select/contest.hpp"

namespace shoal {

namespace {

constexpr int most_counted = 8;

// Where all ranks know how large exchanges are, large ones pay for an agreement soon.
bool is_large(bool known_sizes, double load) { return known_sizes && load >= 1 << 18; }

// A vote takes as long as five to ten small calls: so there have to be many of these.
int usual_calls(bool known_sizes, double load, std::int64_t others) {
  constexpr double medium = 1 << 15;
  if (is_large(known_sizes, load)) return contest::cold_calls;
  const int calls = known_sizes && load >= medium ? 48 : 96;
  return calls - static_cast<int>(std::min<std::int64_t>(most_counted, others));
}

}  // namespace

bool first_calls::contain(std::int64_t call, bool known_sizes, double load) {
  return call <= most_counted && !is_large(known_sizes, load);
}

int calls_before_agreement(bool known_sizes, double load, std::int64_t others, int fruitless) {
  constexpr int most_doublings = 4;
  const int usual = usual_calls(known_sizes, load, others);
  return is_large(known_sizes, load) ? usual : usual << std::min(most_doublings, fruitless);
}

}  // namespace shoal
