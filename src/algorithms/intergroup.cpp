#include "algorithms/intergroup.hpp"

#include <algorithm>

#include "algorithms/families.hpp"

namespace shoal {

void step_program::note(op_kind kind, int step, int peer, std::span<const int> pieces) {
  if (pieces.empty()) return;
  transfers_.push_back({step, kind, peer, pieces_.size(), static_cast<int>(pieces.size())});
  pieces_.insert(pieces_.end(), pieces.begin(), pieces.end());
}

// If two ranks send each other long messages in one step, both should announce theirs before either message is let
// through: over TCP, MPIs seem to send nothing behind a message that has begun, not even their consent to the other
// rank's message (the times in docs/measured/two-groups.md suggest this). So the sends of a step come first, and a rank
// that sends to another does not post its receive from that rank before the send.
schedule step_program::finish() {
  std::sort(transfers_.begin(), transfers_.end(), [](const transfer& a, const transfer& b) {
    return a.step != b.step ? a.step < b.step : a.kind == op_kind::send && b.kind == op_kind::recv;
  });
  builder b(ranks_, rank_);
  b.cut_blocks(parts_);
  window steps(1);
  for (auto first = transfers_.begin(); first != transfers_.end();) {
    const auto end = std::find_if(first, transfers_.end(), [&](const transfer& t) { return t.step != first->step; });
    add_step(b, steps, {first, end});
    first = end;
  }
  return b.finish();
}

void step_program::add_step(builder& b, window& steps, std::span<const transfer> together) {
  b.step(together.front().step);
  const auto before = steps.before();
  std::vector<op_id> let_through(before.begin(), before.end());
  for (const transfer& t : together)
    if (paced_ && t.kind == op_kind::recv) steps.add(b.send(t.peer, {}, before));
  for (const transfer& t : together)
    if (paced_ && t.kind == op_kind::send) let_through.push_back(b.recv(t.peer, {}, before));
  const int sent_to = together.front().kind == op_kind::send ? together.front().peer : rank_;
  for (const transfer& t : together)
    steps.add(add(b, t, t.kind == op_kind::send || t.peer == sent_to ? let_through : before));
  steps.next_group();
}

op_id step_program::add(builder& b, const transfer& t, std::span<const op_id> after) {
  std::vector<slot> slots;
  slots.reserve(t.count);
  for (int i = 0; i < t.count; ++i) {
    const int piece = pieces_[t.first + i];
    slots.push_back(t.kind == op_kind::send ? source_of(piece, t.peer < senders_) : target_of(b, piece));
  }
  return t.kind == op_kind::send ? b.send(t.peer, slots, after) : b.recv(t.peer, slots, after);
}

slot step_program::source_of(int piece, bool passes) const {
  const slot held = rank_ >= senders_         ? recv_slot(piece)
                    : piece / parts_ == rank_ ? send_slot(piece % parts_)
                                              : passing_.at(piece);
  return make_slot(held.at(), static_cast<int>(held.index), passes);
}

slot step_program::target_of(builder& b, int piece) {
  if (rank_ >= senders_) return recv_slot(piece);
  return passing_[piece] = b.new_temp();
}

parameter paced_parameter() {
  return {"paced", "yes: send when the receiver is in the same step; for long messages", "no", {"no", "yes"}};
}

std::optional<std::string> refuses_groups(const problem& at, const arguments&) {
  if (at.senders >= 1 && at.senders < at.ranks) return std::nullopt;
  return "of " + std::to_string(at.ranks) + " ranks " + std::to_string(at.senders) +
         " send; there must be at least one sender and one receiver";
}

double seconds_of(intergroup_cost cost, bool paced, double bytes, const link_cost& link) {
  constexpr double unpaced = 1.05;
  if (paced) cost.steps *= 2;
  else if (cost.steps > 1) cost.volume *= unpaced;
  return static_cast<double>(cost.steps) * link.startup + cost.volume * bytes * link.per_byte;
}

algorithm intergroup_entry(const char* name, const char* summary, const char* source,
                           schedule (*generate)(const problem&, int, const arguments&),
                           intergroup_cost (*cost)(const problem&, const arguments&)) {
  algorithm a;
  a.name = name;
  a.what = collective::allgather;
  a.summary = summary;
  a.source = source;
  a.refuses = refuses_groups;
  a.generate = generate;
  a.cost = cost;
  return a;
}

std::vector<algorithm> intergroup_family() {
  std::vector<algorithm> table = {intergroup_full(), intergroup_circulant()};
  for (algorithm& a : intergroup_rings()) table.push_back(std::move(a));
  table.push_back(intergroup_torus());
  table.push_back(intergroup_root_gathering());
  return table;
}

}  // namespace shoal
