// Follows the blocks of an all-to-all through the schedules of all ranks, and tells what each message carries.
// Written independently of the checker, so that each can show a fault of the other.
#pragma once

#include <map>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "schedule/checker.hpp"

namespace shoal {

struct traced_message {
  int from, to, step;  // the step is the sender's
  std::vector<block_name> blocks;
};

class tracer {
 public:
  explicit tracer(const std::vector<schedule>& programs) : programs_(programs), next_(programs.size(), 0) {}

  // Runs the operations of every rank in the order of their ids. A posted receive ends when its message is there.
  std::vector<traced_message> run() {
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t rank = 0; rank < programs_.size(); ++rank)
        while (advance(static_cast<int>(rank))) moved = true;
    }
    for (std::size_t rank = 0; rank < programs_.size(); ++rank)
      if (next_[rank] < programs_[rank].operations.size() || !posted_[static_cast<int>(rank)].empty())
        throw std::logic_error("the schedules of rank " + std::to_string(rank) + " do not end");
    return messages_;
  }

 private:
  using place_of_block = std::tuple<int, place, int>;  // rank, where, index

  bool advance(int rank) {
    receive_what_is_there(rank);
    if (next_[rank] == programs_[rank].operations.size()) return false;
    const operation& op = programs_[rank].operations[next_[rank]];
    const auto slots = programs_[rank].slots_of(op);
    if (op.kind != op_kind::recv)
      for (slot s : op.kind == op_kind::copy && !slots.empty() ? slots.first(1) : slots)
        if (!has(rank, s)) return false;
    ++next_[rank];
    if (op.kind == op_kind::copy) {
      if (!slots.empty()) put(rank, slots[1], get(rank, slots[0]));
    } else if (op.kind == op_kind::recv) {
      posted_[rank].push_back(static_cast<op_id>(next_[rank]) - 1);
    } else {
      messages_.push_back({rank, op.peer, op.step, {}});
      for (slot s : slots) messages_.back().blocks.push_back(get(rank, s));
      under_way_[{rank, op.peer}].push_back(messages_.size() - 1);
    }
    return true;
  }

  void receive_what_is_there(int rank) {
    std::vector<op_id> still;
    for (op_id id : posted_[rank]) {
      const operation& op = programs_[rank].operations[id];
      auto& queue = under_way_[{op.peer, rank}];
      if (queue.empty()) {
        still.push_back(id);
        continue;
      }
      const auto slots = programs_[rank].slots_of(op);
      for (std::size_t i = 0; i < slots.size(); ++i) put(rank, slots[i], messages_[queue.front()].blocks.at(i));
      queue.erase(queue.begin());
    }
    posted_[rank] = std::move(still);
  }

  static place_of_block key(int rank, slot s) { return {rank, s.at(), static_cast<int>(s.index)}; }
  bool has(int rank, slot s) const { return s.at() == place::send || contents_.count(key(rank, s)) > 0; }
  block_name get(int rank, slot s) const {
    return s.at() == place::send ? block_name{rank, static_cast<int>(s.index)} : contents_.at(key(rank, s));
  }
  void put(int rank, slot s, block_name block) { contents_[key(rank, s)] = block; }

  const std::vector<schedule>& programs_;
  std::vector<std::size_t> next_;
  std::map<int, std::vector<op_id>> posted_;
  std::map<std::pair<int, int>, std::vector<std::size_t>> under_way_;
  std::map<place_of_block, block_name> contents_;
  std::vector<traced_message> messages_;
};

inline std::vector<traced_message> trace(const std::vector<schedule>& programs) { return tracer(programs).run(); }

}  // namespace shoal
