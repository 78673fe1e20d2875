#include "execute/linked_schedule.hpp"

#include <algorithm>
#include <unordered_map>

namespace shoal {

linked_schedule::linked_schedule(schedule from) : schedule(std::move(from)) {
  link();
  number_transfers();
  count_readers();
  count_blocks();
}

template <typename... Values>
static std::size_t bytes_of(const std::vector<Values>&... all) {
  return (... + (all.size() * sizeof(Values)));
}

std::size_t linked_schedule::bytes() const {
  return bytes_of(operations, slots, after, before, first_next, next, sequence, announced, temp_readers);
}

void linked_schedule::link() {
  const std::size_t n = operations.size();
  first_next.assign(n + 1, 0);
  before.resize(n);
  for (std::size_t id = 0; id < n; ++id) before[id] = static_cast<std::int32_t>(operations[id].after_count);
  for (op_id earlier : after) ++first_next[earlier + 1];
  for (std::size_t id = 0; id < n; ++id) first_next[id + 1] += first_next[id];
  next.resize(after.size());
  std::vector<std::uint32_t> fill(first_next.begin(), first_next.end() - 1);
  for (std::size_t id = 0; id < n; ++id)
    for (op_id earlier : after_of(operations[id])) next[fill[earlier]++] = static_cast<op_id>(id);
}

void linked_schedule::number_transfers() {
  std::unordered_map<std::int64_t, std::int32_t> seen;
  sequence.assign(operations.size(), 0);
  announced.assign(operations.size(), 0);
  for (std::size_t id = 0; id < operations.size(); ++id) {
    const operation& op = operations[id];
    if (op.kind == op_kind::copy) continue;
    sequence[id] = seen[std::int64_t{op.peer} * 2 + (op.kind == op_kind::send)]++;
    one_message_each_way = one_message_each_way && sequence[id] == 0;
    for (slot s : slots_of(op)) announced[id] += announces(s);
    most_transfers += op.kind == op_kind::send && announced[id] > 0 ? 2 : 1;
  }
}

bool linked_schedule::tells_sizes() const {
  return std::any_of(announced.begin(), announced.end(), [](std::int32_t blocks) { return blocks > 0; });
}

void linked_schedule::count_readers() {
  temp_readers.assign(temp_slots, 0);
  for (const operation& op : operations) {
    const auto slots = slots_of(op);
    for (std::size_t i = 0; i < slots.size(); ++i)
      if (slots[i].at() == place::temp && !is_written(op, i)) ++temp_readers[slots[i].index];
  }
}

void linked_schedule::count_blocks() {
  for (slot s : slots) {
    if (s.at() == place::temp) continue;
    int& blocks = s.at() == place::send ? send_blocks : recv_blocks;
    blocks = std::max(blocks, static_cast<int>(s.index) / parts + 1);
  }
}

}  // namespace shoal
