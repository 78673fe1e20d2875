// Gives schedules with random changes to the checker, which must cope with whatever is in them. If it finds no fault,
// the schedules are also right without their joins. The bytes name an algorithm, a number of ranks, and then changes:
// the rank, what to change, where, and the new value.
#include <algorithm>
#include <array>

#include "algorithms/algorithm.hpp"
#include "fuzz.hpp"
#include "schedule/checker.hpp"

using namespace shoal;

namespace {

constexpr std::array specs{"tuna:radix=2", "tuna:radix=3,inflight=1", "bruck:radix=2,variant=basic",
                           "spread_out",   "scattered:block_count=2", "hierarchical:radix=2,block_count=1"};

void change_operation(operation& op, int field, int value) {
  switch (field) {
    case 0: op.kind = static_cast<op_kind>(value % 3); break;
    case 1: op.peer = value - 2; break;
    default: op.step = value; break;
  }
}

// Leaves alone the numbers that say where lists lie, because only the library's own builder makes those.
void change(schedule& program, int what, int where, int value) {
  const auto at = [&](auto& list) -> auto& { return list[static_cast<std::size_t>(where) % list.size()]; };
  if (what < 3 && !program.operations.empty()) change_operation(at(program.operations), what, value);
  if (what == 3 && !program.slots.empty())
    at(program.slots) = make_slot(static_cast<place>(value % 3), value / 6, value % 2);
  if (what == 4 && !program.after.empty()) at(program.after) = value - 1;
  if (what == 5) program.temp_slots = value;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  problem at;
  at.ranks = 1 + data[1] % 9;
  std::vector<schedule> programs = generate_all(parse_selection(specs[data[0] % specs.size()]), at);
  for (std::size_t i = 2; i + 4 <= size; i += 4)
    change(programs[data[i] % programs.size()], data[i + 1] % 6, data[i + 2], data[i + 3]);
  const meaning means = alltoall_meaning(at.ranks, programs[0].parts);
  if (check(programs, means)) return 0;
  std::transform(programs.begin(), programs.end(), programs.begin(), without_joins);
  fuzz::require(!check(programs, means));
  return 0;
}
