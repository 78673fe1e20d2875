// SHOAL_MAX_TEMP: an algorithm that may need more scratch memory than this on some rank gives way on all ranks.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "execute/scratch.hpp"
#include "learn/prepared_algorithms.hpp"

namespace shoal {

class scratch_limit {
 public:
  // `most`: the limit in bytes, the same on every rank; empty: there is none.
  scratch_limit(team& ranks, prepared_algorithms& algorithms, std::optional<std::int64_t> most)
      : ranks_(ranks), algorithms_(algorithms), most_(most) {}

  bool is_set() const { return most_.has_value(); }

  // What the need for scratch memory depends on besides the algorithm, as it is on this rank.
  struct needs {
    std::int64_t largest_block = 0, packed = 0;  // bytes
  };
  // Returns `chosen`, which must have a schedule, or what serves all ranks instead if `chosen` could need more than the
  // limit on one of them. Collective; to be called only if is_set().
  const decision* keep(const decision* chosen, bool uniform, const needs& mine);

 private:
  const scratch_bound& bound_of(const prepared& algorithm, bool uniform);
  std::int64_t most_needed(const prepared& algorithm, bool uniform, const needs& mine);

  team& ranks_;
  prepared_algorithms& algorithms_;
  std::optional<std::int64_t> most_;
  // Kept, since each takes a walk through the program.
  std::map<const prepared*, std::array<std::optional<scratch_bound>, 2>> bounds_;
  std::map<std::string, decision> replaced_;  // by the spec that needs too much and the one taken instead
};

}  // namespace shoal
