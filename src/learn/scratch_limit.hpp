// SHOAL_MAX_TEMP: an algorithm that may need more scratch memory on a rank gives way on all of them.
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
  // `most` bytes; the same on every rank.
  scratch_limit(team& ranks, prepared_algorithms& algorithms, std::optional<std::int64_t> most)
      : ranks_(ranks), algorithms_(algorithms), most_(most) {}

  bool is_set() const { return most_.has_value(); }

  // What this rank needs for an exchange besides what the algorithm does.
  struct needs {
    std::int64_t largest_block = 0, packed = 0;  // bytes
  };
  // `chosen`, which has a schedule, or what serves all ranks instead where it could need more on one of them. Only where
  // there is a limit; collective.
  const decision* keep(const decision* chosen, bool uniform, const needs& mine);

 private:
  const scratch_bound& bound_of(const prepared& algorithm, bool uniform);
  std::int64_t most_needed(const prepared& algorithm, bool uniform, const needs& mine);

  team& ranks_;
  prepared_algorithms& algorithms_;
  std::optional<std::int64_t> most_;
  std::map<const prepared*, std::array<std::optional<scratch_bound>, 2>> bounds_;  // a walk through the program each
  std::map<std::string, decision> replaced_;  // by the spec that needs too much, and what is taken
};

}  // namespace shoal
