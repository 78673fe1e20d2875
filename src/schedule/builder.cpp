#include "schedule/builder.hpp"

#include <stdexcept>

namespace shoal {

builder::builder(int ranks, int rank) {
  program_.ranks = ranks;
  program_.rank = rank;
}

slot builder::new_temp() {
  if (program_.temp_slots == max_slot_index)
    throw std::length_error("a schedule holds at most " + std::to_string(max_slot_index) + " temp slots");
  temp_writer_.push_back(-1);
  return temp_slot(program_.temp_slots++);
}

op_id builder::copy(slot from, slot to, std::span<const op_id> after) {
  const op_id id = add(op_kind::copy, -1, after);
  depend_on_writer(from);
  program_.slots.push_back(from);
  program_.slots.push_back(to);
  program_.operations[id].slot_count = 2;
  written(to, id);
  return id;
}

op_id builder::join(std::span<const op_id> after) { return add(op_kind::copy, -1, after); }

op_id builder::send(int peer, std::span<const slot> blocks, std::span<const op_id> after) {
  const op_id id = add(op_kind::send, peer, after);
  for (slot s : blocks) depend_on_writer(s);
  program_.slots.insert(program_.slots.end(), blocks.begin(), blocks.end());
  program_.operations[id].slot_count = static_cast<std::uint32_t>(blocks.size());
  return id;
}

op_id builder::recv(int peer, std::span<const slot> blocks, std::span<const op_id> after) {
  const op_id id = add(op_kind::recv, peer, after);
  for (slot s : blocks) {
    program_.slots.push_back(make_slot(s.at(), static_cast<int>(s.index), s.at() == place::temp));
    written(s, id);
  }
  program_.operations[id].slot_count = static_cast<std::uint32_t>(blocks.size());
  return id;
}

op_id builder::add(op_kind kind, int peer, std::span<const op_id> after) {
  const auto id = static_cast<op_id>(program_.operations.size());
  program_.operations.push_back({kind, peer, step_, static_cast<std::uint32_t>(program_.slots.size()), 0,
                                 static_cast<std::uint32_t>(program_.after.size()), 0});
  marked_.push_back(-1);
  for (op_id earlier : after) depend_on(earlier);
  return id;
}

void builder::depend_on_writer(slot read) {
  if (read.at() == place::send) return;
  const auto& writers = read.at() == place::temp ? temp_writer_ : recv_writer_;
  if (read.index < writers.size() && writers[read.index] >= 0) depend_on(writers[read.index]);
}

void builder::depend_on(op_id earlier) {
  const auto id = static_cast<op_id>(program_.operations.size()) - 1;
  if (marked_[earlier] == id) return;
  marked_[earlier] = id;
  program_.after.push_back(earlier);
  ++program_.operations[id].after_count;
}

void builder::written(slot target, op_id writer) {
  auto& writers = target.at() == place::temp ? temp_writer_ : recv_writer_;
  if (target.at() == place::send) return;
  if (target.index >= writers.size()) writers.resize(target.index + 1, -1);
  writers[target.index] = writer;
}

void window::next_group() {
  if (building_.empty()) return;
  groups_[current_].swap(building_);
  building_.clear();
  current_ = (current_ + 1) % groups_.size();
}

void window::join(builder& b) {
  if (before().size() > 2) groups_[current_] = {b.join(before())};
}

}  // namespace shoal
