#include "algorithms/exchange_plan.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "schedule/builder.hpp"

namespace shoal {

namespace {

// An operation of a rank. The transfers between two ranks match in the order of the ranks' operations, so both ranks
// sort them by the same key: a message by its position, a token behind the message that releases the token.
struct event {
  std::int32_t position;  // of the message, or of the message that releases the token
  std::int32_t released;  // of the message that awaits the token; -1: not a token
  op_kind kind;
  std::int32_t peer, phase;
  bool operator<(const event& other) const {
    return std::tie(position, released) < std::tie(other.position, other.released);
  }
};

class program_writer {
 public:
  program_writer(int ranks, int rank, int outstanding, block_parts blocks)
      : b_(ranks, rank), sends_(outstanding), parts_(blocks.parts) {
    b_.cut_blocks(parts_, blocks.last);
    for (int k = rank * parts_; k < (rank + 1) * parts_; ++k) b_.copy(send_slot(k), recv_slot(k));
  }

  void add(const event& e) {
    b_.step(e.phase);
    if (e.released < 0) e.kind == op_kind::send ? send_block(e) : receive_block(e);
    else if (e.kind == op_kind::send) b_.send(e.peer, {}, {&releases_, 1});
    else awaited_[e.released].push_back(b_.recv(e.peer, {}));
  }

  schedule finish() { return b_.finish(); }

 private:
  void receive_block(const event& e) {
    for (int part = 0; part < parts_; ++part) {
      const slot piece = recv_slot(e.peer * parts_ + part);
      const op_id received = b_.recv(e.peer, {&piece, 1});
      if (part == std::max(0, parts_ - 2)) releases_ = received;
    }
  }

  void send_block(const event& e) {
    std::vector<op_id> after(sends_.before().begin(), sends_.before().end());
    if (const auto awaited = awaited_.extract(e.position))
      after.insert(after.end(), awaited.mapped().begin(), awaited.mapped().end());
    for (int part = 0; part < parts_; ++part) {
      const slot piece = send_slot(e.peer * parts_ + part);
      sends_.add(b_.send(e.peer, {&piece, 1}, after));
    }
    sends_.next_group();
  }

  builder b_;
  window sends_;
  int parts_;
  op_id releases_ = -1;                                 // the piece whose arrival releases the tokens that follow
  std::map<std::int32_t, std::vector<op_id>> awaited_;  // tokens, by messages still to be sent
};

schedule write_program(int ranks, int rank, int outstanding, block_parts blocks, std::vector<event> events) {
  std::stable_sort(events.begin(), events.end());
  program_writer writer(ranks, rank, outstanding, blocks);
  for (const event& e : events) writer.add(e);
  return writer.finish();
}

}  // namespace

exchange_plan::exchange_plan(const rank_tree& tree, std::vector<message> ordered, int window,
                             std::optional<reduction> wanted, std::size_t empty)
    : messages_(std::move(ordered)), ranks_(tree.ranks()) {
  if (wanted) waits_ = synchronise(tree, std::span(messages_).first(messages_.size() - empty), window, *wanted);
  tokens_ = waits_.kept;
  tokens_.insert(tokens_.end(), waits_.own.begin(), waits_.own.end());
  for (int rank = 0; rank < tree.ranks(); ++rank) ranks_[rank].outstanding = sends_under_way(tree, rank, window);
  for (std::int32_t m = 0; m < static_cast<std::int32_t>(messages_.size()); ++m) {
    ranks_[messages_[m].from].sends.push_back(m);
    ranks_[messages_[m].to].receives.push_back(m);
  }
  for (std::int32_t w = 0; w < static_cast<std::int32_t>(tokens_.size()); ++w) {
    ranks_[messages_[tokens_[w].before].to].signals.push_back(w);
    ranks_[messages_[tokens_[w].after].from].awaits.push_back(w);
  }
}

schedule exchange_plan::program(int rank, block_parts blocks) const {
  const share& mine = ranks_[rank];
  std::vector<event> events;
  const auto add_tokens = [&](const std::vector<std::int32_t>& tokens, op_kind kind) {
    for (std::int32_t w : tokens) {
      const auto [before, after] = tokens_[w];
      const int peer = kind == op_kind::send ? messages_[after].from : messages_[before].to;
      events.push_back({before, after, kind, peer, messages_[before].phase});
    }
  };
  for (std::int32_t m : mine.sends) events.push_back({m, -1, op_kind::send, messages_[m].to, messages_[m].phase});
  for (std::int32_t m : mine.receives) events.push_back({m, -1, op_kind::recv, messages_[m].from, messages_[m].phase});
  add_tokens(mine.signals, op_kind::send);
  add_tokens(mine.awaits, op_kind::recv);
  return write_program(static_cast<int>(ranks_.size()), rank, mine.outstanding, blocks, std::move(events));
}

schedule unsynchronised_program(const rank_tree& tree, const rank_phases& table, int rank, int window) {
  std::vector<event> events;
  const auto add = [&](op_kind kind, int peer, std::int64_t at) {
    const auto phase = static_cast<std::int32_t>(at);
    events.push_back({phase, -1, kind, peer, phase});
  };
  for (int peer = 0; peer < tree.ranks(); ++peer) {
    if (peer == rank) continue;
    add(op_kind::send, peer, table.phase(rank, peer));
    add(op_kind::recv, peer, table.phase(peer, rank));
  }
  return write_program(tree.ranks(), rank, sends_under_way(tree, rank, window), {}, std::move(events));
}

}  // namespace shoal
