#include "algorithms/intergroup.hpp"

#include <algorithm>

#include "algorithms/families.hpp"

namespace shoal {

void step_program::note(op_kind kind, int step, int peer, std::span<const int> pieces) {
  if (pieces.empty()) return;
  transfers_.push_back({step, kind, peer, pieces_.size(), static_cast<int>(pieces.size())});
  pieces_.insert(pieces_.end(), pieces.begin(), pieces.end());
}

schedule step_program::finish() {
  std::sort(transfers_.begin(), transfers_.end(), [](const transfer& a, const transfer& b) {
    return a.step != b.step ? a.step < b.step : a.kind == op_kind::recv && b.kind == op_kind::send;
  });
  builder b(ranks_, rank_);
  b.cut_blocks(parts_);
  window rounds(1);
  for (std::size_t i = 0; i < transfers_.size(); ++i) {
    b.step(transfers_[i].step);
    rounds.add(add(b, transfers_[i], rounds.before()));
    if (i + 1 == transfers_.size() || transfers_[i + 1].step != transfers_[i].step) rounds.next_group();
  }
  return b.finish();
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

std::optional<std::string> refuses_groups(const problem& at, const arguments&) {
  if (at.senders >= 1 && at.senders < at.ranks) return std::nullopt;
  return "of " + std::to_string(at.ranks) + " ranks " + std::to_string(at.senders) +
         " send; there must be at least one sender and one receiver";
}

algorithm intergroup_entry(const char* name, const char* summary, const char* source,
                           schedule (*generate)(const problem&, int, const arguments&)) {
  algorithm a;
  a.name = name;
  a.what = collective::allgather;
  a.summary = summary;
  a.source = source;
  a.refuses = refuses_groups;
  a.generate = generate;
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
