#include "schedule/schedule.hpp"

#include <algorithm>

namespace shoal {

namespace {

bool is_temp(slot s) { return s.at() == place::temp; }

// The last operation that reads each temp slot, or -1.
std::vector<op_id> last_readers(const schedule& program) {
  std::vector<op_id> last(program.temp_slots, -1);
  for (op_id id = 0; id < static_cast<op_id>(program.operations.size()); ++id) {
    const operation& op = program.operations[id];
    const auto slots = program.slots_of(op);
    for (std::size_t i = 0; i < slots.size(); ++i)
      if (is_temp(slots[i]) && !is_written(op, i)) last[slots[i].index] = id;
  }
  return last;
}

}  // namespace

std::int64_t begin_of_part(const schedule& program, std::int64_t part, std::int64_t bytes) {
  const bool limited =
      program.parts > 1 && program.last_part > 0 && bytes > std::int64_t{program.parts} * program.last_part;
  const std::int64_t equal = limited ? program.parts - 1 : program.parts;
  const std::int64_t shared = limited ? bytes - program.last_part : bytes;
  if (part > equal) return bytes;
  return shared / equal * part + shared % equal * part / equal;  // shared * part / equal without overflow
}

int temp_peak(const schedule& program) {
  const std::vector<op_id> last = last_readers(program);
  int alive = 0, peak = 0;
  for (op_id id = 0; id < static_cast<op_id>(program.operations.size()); ++id) {
    const operation& op = program.operations[id];
    const auto slots = program.slots_of(op);
    for (std::size_t i = 0; i < slots.size(); ++i) {
      if (!is_temp(slots[i])) continue;
      if (is_written(op, i)) ++alive;
      else if (last[slots[i].index] == id) --alive;
    }
    peak = std::max(peak, alive);
  }
  return peak;
}

schedule without_joins(const schedule& program) {
  schedule plain = program;
  plain.operations.clear();
  plain.after.clear();
  std::vector<std::vector<op_id>> stands_for(program.operations.size());  // by old id: the new operations
  for (std::size_t id = 0; id < program.operations.size(); ++id) {
    operation op = program.operations[id];
    std::vector<op_id> before;
    for (op_id earlier : program.after_of(op))
      before.insert(before.end(), stands_for[earlier].begin(), stands_for[earlier].end());
    std::sort(before.begin(), before.end());
    before.erase(std::unique(before.begin(), before.end()), before.end());
    if (op.kind == op_kind::copy && op.slot_count == 0) {
      stands_for[id] = std::move(before);
      continue;
    }
    stands_for[id] = {static_cast<op_id>(plain.operations.size())};
    op.first_after = static_cast<std::uint32_t>(plain.after.size());
    op.after_count = static_cast<std::uint32_t>(before.size());
    plain.after.insert(plain.after.end(), before.begin(), before.end());
    plain.operations.push_back(op);
  }
  return plain;
}

traffic sent_by(const schedule& program) {
  traffic sum;
  for (const operation& op : program.operations) {
    if (op.kind != op_kind::send) continue;
    if (op.slot_count == 0) {
      ++sum.tokens;
      continue;
    }
    const auto blocks = program.slots_of(op);
    const auto announced = program.full_metadata
                               ? static_cast<std::ptrdiff_t>(blocks.size())
                               : std::count_if(blocks.begin(), blocks.end(), [](slot s) { return s.passing; });
    ++sum.messages;
    sum.blocks += op.slot_count;
    sum.metadata_messages += announced > 0;
    sum.metadata_sizes += announced;
  }
  return sum;
}

std::string to_string(slot s) {
  static constexpr const char* names[] = {"send", "recv", "temp", "nowhere"};
  return std::string(names[s.where]) + "[" + std::to_string(s.index) + "]";
}

const char* to_string(op_kind kind) {
  switch (kind) {
    case op_kind::copy: return "copy";
    case op_kind::send: return "send";
    default: return "recv";
  }
}

}  // namespace shoal
