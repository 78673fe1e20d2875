#include "learn/first_calls.hpp"

#include <mpi.h>

#include <algorithm>

#include "select/contest.hpp"
#include "select/size_pattern.hpp"

namespace shoal {

namespace {

constexpr int most_counted = 8;
// If sizes alternate, up to this many fields share the calls before an agreement. The MPI has opened its connections by
// then, so each field needs fewer of its own.
constexpr int places = size_pattern::longest;

// If all ranks know how large exchanges are, large exchanges soon pay for an agreement.
bool is_large(bool known_sizes, double load) { return known_sizes && load >= 1 << 18; }

// A vote takes as long as five to ten small calls, so there have to be many small calls. On Open MPI, calls of few
// ranks that send little are even shorter, and there is less to gain.
int usual_calls(bool known_sizes, double load, [[maybe_unused]] int ranks) {
  constexpr double medium = 1 << 15;
  if (is_large(known_sizes, load)) return contest::cold_calls;
  if (known_sizes && load >= medium) return 48;
#ifdef OPEN_MPI
  constexpr double small = 1 << 12;
  constexpr int few = 8;
  if (known_sizes && load <= small && ranks <= few) return 384;
#endif
  return 96;
}

}  // namespace

bool first_calls::contain(std::int64_t call, bool known_sizes, double load) {
  return call <= most_counted && !is_large(known_sizes, load);
}

int first_calls::left_behind(std::int64_t call) {
  return static_cast<int>(std::max<std::int64_t>(0, most_counted - call));
}

int calls_before_agreement(bool known_sizes, double load, int ranks, std::int64_t others, int fruitless_agreements) {
  constexpr int most_doublings = 4;
  const int usual = usual_calls(known_sizes, load, ranks);
  if (is_large(known_sizes, load)) return usual;
  const bool is_place = !known_sizes && others >= usual;
  const int first = is_place ? usual / places : usual - static_cast<int>(std::min<std::int64_t>(most_counted, others));
  return first << std::min(most_doublings, fruitless_agreements);
}

}  // namespace shoal
