#include "learn/scratch_limit.hpp"

#include <array>

#include "team/errors.hpp"

namespace shoal {

const scratch_bound& scratch_limit::bound_of(const prepared& algorithm, bool uniform) {
  std::optional<scratch_bound>& known = bounds_[&algorithm][uniform];
  if (!known) known = bound_scratch(*algorithm.steps, uniform, exchange::standard_inline_bytes);
  return *known;
}

// The scratch memory, in bytes, of the rank that may need most.
std::int64_t scratch_limit::most_needed(const prepared& algorithm, bool uniform, const needs& mine) {
  const scratch_bound& bound = bound_of(algorithm, uniform);
  std::array<std::int64_t, 4> values{bound.bytes, bound.blocks, mine.largest_block, mine.packed};
  constexpr std::array rules{combine::maximum, combine::maximum, combine::maximum, combine::maximum};
  ranks_.agree().reach(values, rules);
  return scratch_bound{values[0], values[1]}.with(values[2], values[3]);
}

const decision* scratch_limit::keep(const decision* chosen, bool uniform, const needs& mine) {
  const std::int64_t needed = most_needed(*chosen->algorithm, uniform, mine);
  if (needed <= *most_) return chosen;
  prepared& straight = algorithms_.straight();
  const bool fits = most_needed(straight, uniform, mine) <= *most_;
  prepared& instead = fits ? straight : algorithms_.natives();
  decision& ready = replaced_[chosen->algorithm->spec + " " + instead.spec];
  if (ready.algorithm) return &ready;
  const std::string why = chosen->algorithm->spec + " may need " + std::to_string(needed) +
                          " bytes of scratch memory on a rank, SHOAL_MAX_TEMP allows " + std::to_string(*most_);
  if (ranks_.rank() == 0)
    say_once(why, fits ? "using " + straight.spec + ", which needs none" : "using the MPI library's own collective");
  ready.algorithm = &instead;
  ready.reason = why;
  return &ready;
}

}  // namespace shoal
