#include "schedule/steps.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <tuple>

namespace shoal {

namespace {

constexpr block_name nothing{};

// One message with both its ends.
struct message {
  int step, from, to;
  op_id sent, received;
};

class step_run {
 public:
  step_run(std::span<const schedule> programs, const meaning& collective, const neighbour_test& linked)
      : programs_(programs), collective_(collective), linked_(linked), ranks_(static_cast<int>(programs.size())) {}

  step_report run() {
    match();
    if (!report_.fault) check_ports();
    if (!report_.fault) move();
    return std::move(report_);
  }

 private:
  void fail(step_fault_kind kind, int step, int rank, const std::string& text) {
    if (report_.fault) return;
    report_.fault = {kind, step, rank, "step " + std::to_string(step) + ", rank " + std::to_string(rank) + ": " + text};
  }

  const operation& op(int rank, op_id id) const { return programs_[rank].operations[id]; }

  // ---- the k-th send from a to b meets the k-th receive of b from a; tokens move nothing -------------------------
  // (sender, receiver, operation) of all sends, or of all receives, in order.
  using message_end = std::tuple<int, int, op_id>;
  std::vector<message_end> ends(op_kind kind) const {
    std::vector<message_end> found;
    for (int r = 0; r < ranks_; ++r)
      for (op_id id = 0; id < static_cast<op_id>(programs_[r].operations.size()); ++id) {
        if (op(r, id).kind != kind || op(r, id).slot_count == 0) continue;
        const int peer = op(r, id).peer;
        found.push_back(kind == op_kind::send ? message_end{r, peer, id} : message_end{peer, r, id});
      }
    std::sort(found.begin(), found.end());
    return found;
  }

  void match() {
    const message_end last{ranks_, ranks_, 0};
    auto sent = ends(op_kind::send), received = ends(op_kind::recv);
    const std::size_t longer = std::max(sent.size(), received.size());
    sent.resize(longer, last);
    received.resize(longer, last);
    for (std::size_t i = 0; i < longer && !report_.fault; ++i) match(sent[i], received[i]);
  }

  void match(message_end sent, message_end received) {
    const auto [from, to, send_id] = sent;
    const auto [receive_from, receive_to, receive_id] = received;
    const auto send_pair = std::pair(from, to), receive_pair = std::pair(receive_from, receive_to);
    if (send_pair < receive_pair) return unmatched(from, send_id);
    if (receive_pair < send_pair) return unmatched(receive_to, receive_id);
    const operation &out = op(from, send_id), &in = op(to, receive_id);
    if (out.slot_count != in.slot_count) return unmatched(to, receive_id);
    if (out.step != in.step)
      return fail(step_fault_kind::other_step, out.step, from,
                  "rank " + std::to_string(to) + " takes this message in step " + std::to_string(in.step));
    messages_.push_back({out.step, from, to, send_id, receive_id});
  }

  void unmatched(int rank, op_id id) {
    const operation& alone = op(rank, id);
    fail(step_fault_kind::unmatched, alone.step, rank,
         std::string(to_string(alone.kind)) + " with rank " + std::to_string(alone.peer) + " has no counterpart");
  }

  // ---- one port each way, and links ------------------------------------------------------------------------------
  void check_ports() {
    check_port(step_fault_kind::two_receives, &message::to);
    check_port(step_fault_kind::two_sends, &message::from);
    for (const message& m : messages_)
      if (linked_ && !linked_(m.from, m.to))
        fail(step_fault_kind::not_neighbours, m.step, m.from, "has no link to rank " + std::to_string(m.to));
  }

  void check_port(step_fault_kind kind, int message::* rank) {
    const auto port = [rank](const message& m) { return std::pair(m.step, m.*rank); };
    std::stable_sort(messages_.begin(), messages_.end(),
                     [&](const message& a, const message& b) { return port(a) < port(b); });
    for (std::size_t i = 1; i < messages_.size(); ++i)
      if (port(messages_[i - 1]) == port(messages_[i]))
        fail(kind, messages_[i].step, messages_[i].*rank,
             kind == step_fault_kind::two_sends ? "sends two messages" : "receives two messages");
  }

  // ---- what moves -------------------------------------------------------------------------------------------------
  // All messages of a step leave before any arrives.
  void move() {
    prepare();
    std::sort(messages_.begin(), messages_.end(), [](const message& a, const message& b) {
      return std::tie(a.step, a.from, a.to) < std::tie(b.step, b.from, b.to);
    });
    for (std::size_t first = 0, end = 0; first < messages_.size() && !report_.fault; first = end) {
      std::size_t largest = 0;
      for (end = first; end < messages_.size() && messages_[end].step == messages_[first].step; ++end)
        largest = std::max(largest, leave(messages_[end]));
      for (std::size_t i = first; i < end; ++i) arrive(messages_[i], report_.transfers[i].blocks);
      report_.steps = messages_[first].step;
      report_.volume += static_cast<std::int64_t>(largest);
    }
  }

  void prepare() {
    contents_.resize(ranks_);
    for (int r = 0; r < ranks_; ++r) {
      contents_[r][0].resize(collective_.send_slots(r));
      contents_[r][1].resize(collective_.recv_slots(r));
      contents_[r][2].resize(programs_[r].temp_slots);
      for (int i = 0; i < collective_.send_slots(r); ++i) contents_[r][0][i] = collective_.held(r, i);
    }
  }

  std::size_t leave(const message& m) {
    step_transfer transfer{m.step, m.from, m.to, {}};
    for (slot s : programs_[m.from].slots_of(op(m.from, m.sent))) {
      const auto& place = contents_[m.from][s.where];
      transfer.blocks.push_back(s.index < place.size() ? place[s.index] : nothing);
      if (transfer.blocks.back() == nothing)
        fail(step_fault_kind::not_available, m.step, m.from, "sends " + to_string(s) + ", which it does not hold yet");
    }
    report_.traffic += static_cast<std::int64_t>(transfer.blocks.size());
    report_.transfers.push_back(std::move(transfer));
    return report_.transfers.back().blocks.size();
  }

  void arrive(const message& m, const std::vector<block_name>& blocks) {
    const auto slots = programs_[m.to].slots_of(op(m.to, m.received));
    for (std::size_t i = 0; i < slots.size(); ++i) {
      auto& place = contents_[m.to][slots[i].where];
      if (slots[i].index < place.size()) place[slots[i].index] = blocks[i];
    }
  }

  std::span<const schedule> programs_;
  const meaning& collective_;
  const neighbour_test& linked_;
  int ranks_;
  std::vector<message> messages_;
  std::vector<std::array<std::vector<block_name>, 3>> contents_;  // per rank, by place
  step_report report_;
};

}  // namespace

const char* to_string(step_fault_kind kind) {
  switch (kind) {
    case step_fault_kind::unmatched: return "unmatched transfer";
    case step_fault_kind::other_step: return "ends in different steps";
    case step_fault_kind::not_available: return "block not available";
    case step_fault_kind::two_sends: return "two sends in a step";
    case step_fault_kind::two_receives: return "two receives in a step";
    default: return "not neighbours";
  }
}

neighbour_test ring_neighbours(int ranks) {
  return [ranks](int a, int b) { return (a + 1) % ranks == b || (b + 1) % ranks == a; };
}

neighbour_test torus_neighbours(std::vector<int> shape) {
  return [shape = std::move(shape)](int a, int b) {
    int differing = 0;
    bool adjacent = true;
    for (auto extent = shape.rbegin(); extent != shape.rend(); ++extent) {
      const int apart = std::abs(a % *extent - b % *extent);
      differing += apart != 0;
      adjacent = adjacent && (apart <= 1 || apart == *extent - 1);
      a /= *extent;
      b /= *extent;
    }
    return differing == 1 && adjacent;
  };
}

step_report follow_steps(std::span<const schedule> programs, const meaning& collective, const neighbour_test& linked) {
  return step_run(programs, collective, linked).run();
}

}  // namespace shoal
