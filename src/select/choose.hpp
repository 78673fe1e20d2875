// Picks the algorithm and its parameters for one exchange, the same on every rank.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "algorithms/algorithm.hpp"
#include "select/calibration.hpp"
#include "select/features.hpp"

namespace shoal {

struct choice {
  selection how;
  std::string reason;     // one line for people
  double seconds = 0;     // expected; 0: not known
  std::string next = {};  // what would be next best, or nothing
  double next_seconds = 0;
};

// The middle, by ratio, of any neighbouring sizes but those where the same exchange is far ahead at both: how far each
// is the best, and where the MPI changes its way, the line between the two does not tell.
std::vector<std::int64_t> sizes_in_doubt(const std::vector<measured_exchanges::point>& points);

// Before anything was measured. `crowded`: on some node ranks outnumber cores, where the MPI's own collectives may keep
// the cores busy that other ranks wait for.
choice choose_unmeasured(bool crowded);

// The fastest of what was measured; the MPI's own unless another is clearly ahead.
choice choose(const measured_exchanges& measured, const block_mix& blocks);

// For blocks whose sizes each rank knows only in part: the choice that does not need them, and when the ranks had better
// ask each other. Decided by the largest regret over what was measured: how many times the best exchange a choice takes,
// or the best exchange and the asking together.
enum class asking { never, at_times, always };
struct unasked_choice {
  choice best;
  asking when = asking::never;
};
unasked_choice choose_unasked(const measured_exchanges& measured);

// Where they ask at times: the calls from one asking to the next, so that it costs 2 % of what the calls take.
int calls_between(double asking_seconds, double call_seconds);

// The specs worth trying on the program's own exchanges, most promising first: few, and none twice as slow as the
// first. For such blocks; without by the largest regret, whatever the sizes.
std::vector<std::string> likely(const measured_exchanges& measured, const std::optional<block_mix>& blocks);

}  // namespace shoal
