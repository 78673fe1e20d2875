// What the tests of hierarchical exchanges share.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <random>

#include "schedule/schedule.hpp"

namespace shoal {

inline bool exhaustive() { return std::getenv("SHOAL_EXHAUSTIVE") != nullptr; }

inline int pick(std::mt19937& random, int lowest, int highest) {
  return std::uniform_int_distribution<int>(lowest, highest)(random);
}

// Compares two schedules operation by operation.
inline bool same(const schedule& a, const schedule& b) {
  const auto same_operation = [](const operation& x, const operation& y) {
    return x.kind == y.kind && x.peer == y.peer && x.step == y.step && x.first_slot == y.first_slot &&
           x.slot_count == y.slot_count && x.first_after == y.first_after && x.after_count == y.after_count;
  };
  return a.temp_slots == b.temp_slots && a.slots == b.slots && a.after == b.after &&
         std::equal(a.operations.begin(), a.operations.end(), b.operations.begin(), b.operations.end(), same_operation);
}

}  // namespace shoal
