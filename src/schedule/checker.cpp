#include "schedule/checker.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace shoal {

namespace {

// One transfer as one side describes it.
struct transfer_end {
  int peer;
  op_id op;
};

class symbolic_run {
 public:
  symbolic_run(std::span<const schedule> programs, const meaning& collective)
      : programs_(programs), collective_(collective), ranks_(static_cast<int>(programs.size())) {}

  std::optional<fault> run() {
    for (int r = 0; r < ranks_ && !fault_; ++r) check_terms(r);
    for (int r = 0; r < ranks_ && !fault_; ++r) check_references(r);
    for (int r = 0; r < ranks_ && !fault_; ++r) check_assignments(r);
    if (!fault_) match_transfers();
    if (!fault_) execute();
    for (int r = 0; r < ranks_ && !fault_; ++r) check_delivery(r);
    return fault_;
  }

 private:
  // ---- faults -------------------------------------------------------------------------------------------
  void fail(fault_kind kind, int rank, op_id op, std::string text) {
    if (fault_) return;
    std::string where = "rank " + std::to_string(rank);
    if (op >= 0) where += ", operation " + std::to_string(op);
    fault_ = fault{kind, rank, op, where + ": " + std::move(text)};
  }

  // ---- what decides on all ranks alike what travels ------------------------------------------------------
  void check_terms(int r) {
    const schedule &mine = programs_[r], &first = programs_[0];
    const auto expect = [&](const char* name, int here, int expected) {
      if (here == expected) return;
      fail(fault_kind::bad_reference, r, -1,
           std::string(name) + " is " + std::to_string(here) + " instead of " + std::to_string(expected));
    };
    expect("rank", mine.rank, r);
    expect("ranks", mine.ranks, ranks_);
    expect("parts", mine.parts, first.parts);
    expect("last_part", mine.last_part, first.last_part);
    expect("full_metadata", mine.full_metadata, first.full_metadata);
    expect("shared_memory", mine.shared_memory, first.shared_memory);
    expect("among_neighbors", mine.among_neighbors, first.among_neighbors);
  }

  // ---- one rank's program by itself ---------------------------------------------------------------------
  int slots_at(int rank, place where) const {
    switch (where) {
      case place::send: return collective_.send_slots(rank);
      case place::recv: return collective_.recv_slots(rank);
      default: return programs_[rank].temp_slots;
    }
  }

  void check_references(int r) {
    const schedule& program = programs_[r];
    const int limit[] = {slots_at(r, place::send), slots_at(r, place::recv), slots_at(r, place::temp)};
    for (op_id id = 0; id < static_cast<op_id>(program.operations.size()); ++id) {
      const operation& op = program.operations[id];
      if (op.kind != op_kind::copy && (op.peer < 0 || op.peer >= ranks_ || op.peer == r))
        return fail(fault_kind::bad_reference, r, id, "peer " + std::to_string(op.peer) + " is not another rank");
      if (op.kind == op_kind::copy && op.slot_count != 2 && op.slot_count != 0)
        return fail(fault_kind::bad_reference, r, id, "a copy has two slots, from and to");
      for (slot s : program.slots_of(op))
        if (s.where > 2 || static_cast<int>(s.index) >= limit[s.where])
          return fail(fault_kind::bad_reference, r, id, to_string(s) + " does not exist");
      for (op_id earlier : program.after_of(op))
        if (earlier < 0 || earlier >= id)
          return fail(fault_kind::bad_reference, r, id, "comes after operation " + std::to_string(earlier));
    }
  }

  // Checks that every slot is written once at most, the send buffer never, and that every reader comes after the
  // writer.
  void check_assignments(int r) {
    const schedule& program = programs_[r];
    std::vector<op_id> writer[] = {
        {}, std::vector<op_id>(slots_at(r, place::recv), -1), std::vector<op_id>(program.temp_slots, -1)};
    for (op_id id = 0; id < static_cast<op_id>(program.operations.size()); ++id) {
      const operation& op = program.operations[id];
      const auto slots = program.slots_of(op);
      for (std::size_t i = 0; i < slots.size(); ++i) {
        const slot s = slots[i];
        if (!is_written(op, i)) {
          if (s.at() != place::send) check_reader(r, id, s, writer[s.where][s.index]);
        } else if (s.at() == place::send) {
          return fail(fault_kind::send_slot_written, r, id, "writes " + to_string(s) + ", the user's send buffer");
        } else if (std::exchange(writer[s.where][s.index], id) >= 0) {
          return fail(fault_kind::written_twice, r, id, to_string(s) + " is written a second time");
        }
      }
    }
  }

  void check_reader(int r, op_id reader, slot s, op_id writer) {
    if (writer >= 0 && comes_after(r, reader, writer)) return;
    fail(fault_kind::read_before_write, r, reader,
         "reads " + to_string(s) +
             (writer < 0 ? ", which nothing has written"
                         : " but need not come after operation " + std::to_string(writer) + ", which writes it"));
  }

  bool comes_after(int r, op_id later, op_id earlier) const {
    const schedule& program = programs_[r];
    const auto direct = program.after_of(program.operations[later]);
    if (std::find(direct.begin(), direct.end(), earlier) != direct.end()) return true;
    std::vector<char> seen(program.operations.size(), 0);
    std::vector<op_id> todo(direct.begin(), direct.end());
    while (!todo.empty()) {
      const op_id id = todo.back();
      todo.pop_back();
      if (id == earlier) return true;
      if (id < earlier || std::exchange(seen[id], 1)) continue;
      const auto before = program.after_of(program.operations[id]);
      todo.insert(todo.end(), before.begin(), before.end());
    }
    return false;
  }

  // ---- transfers between two ranks: the k-th send from a to b meets the k-th receive of b from a -----------
  std::size_t global(int rank, op_id op) const { return first_[rank] + static_cast<std::size_t>(op); }

  void match_transfers() {
    first_.assign(1, 0);
    for (const schedule& program : programs_) first_.push_back(first_.back() + program.operations.size());
    partner_.assign(first_.back(), {-1, -1});

    std::vector<std::vector<transfer_end>> sent(ranks_), received(ranks_);  // by receiver
    for (int r = 0; r < ranks_; ++r)
      for (op_id id = 0; id < static_cast<op_id>(programs_[r].operations.size()); ++id) {
        const operation& op = programs_[r].operations[id];
        if (op.kind == op_kind::send) sent[op.peer].push_back({r, id});
        if (op.kind == op_kind::recv) received[r].push_back({op.peer, id});
      }
    for (int r = 0; r < ranks_ && !fault_; ++r) match_arrivals(r, sent[r], received[r]);
  }

  void match_arrivals(int r, const std::vector<transfer_end>& sent, std::vector<transfer_end>& received) {
    std::stable_sort(received.begin(), received.end(),
                     [](const transfer_end& a, const transfer_end& b) { return a.peer < b.peer; });
    const std::size_t both = std::min(sent.size(), received.size());
    for (std::size_t i = 0; i < both && !fault_; ++i) {
      const transfer_end from = sent[i], to = received[i];
      if (from.peer < to.peer) return unmatched_send(r, from);
      if (to.peer < from.peer) return unmatched_receive(r, to);
      check_message(r, from, to);
      partner_[global(from.peer, from.op)] = {r, to.op};
      partner_[global(r, to.op)] = from;
    }
    if (sent.size() > both) unmatched_send(r, sent[both]);
    if (received.size() > both) unmatched_receive(r, received[both]);
  }

  void unmatched_send(int receiver, transfer_end from) {
    fail(fault_kind::unmatched, from.peer, from.op,
         "rank " + std::to_string(receiver) + " never receives this message");
  }
  void unmatched_receive(int receiver, transfer_end to) {
    fail(fault_kind::unmatched, receiver, to.op, "rank " + std::to_string(to.peer) + " never sends this message");
  }

  void check_message(int receiver, transfer_end from, transfer_end to) {
    const auto out = slots_of(from.peer, from.op), in = slots_of(receiver, to.op);
    if (out.size() != in.size())
      return fail(fault_kind::unmatched, receiver, to.op,
                  "expects " + std::to_string(in.size()) + " blocks but rank " + std::to_string(from.peer) + " sends " +
                      std::to_string(out.size()));
    for (std::size_t i = 0; i < out.size(); ++i)
      if ((in[i].at() == place::temp) != out[i].passing || in[i].passing != out[i].passing)
        return fail(fault_kind::wrong_passing, receiver, to.op,
                    "block " + std::to_string(i) + " from rank " + std::to_string(from.peer) + " goes to " +
                        to_string(in[i]) + " but is marked " + (out[i].passing ? "passing" : "arriving"));
  }

  std::span<const slot> slots_of(int rank, op_id op) const {
    return programs_[rank].slots_of(programs_[rank].operations[op]);
  }

  // ---- execution: an operation is posted when those before it are done; a transfer ends when both ends are posted
  void execute() {
    prepare();
    for (int r = 0; r < ranks_; ++r)
      for (op_id id = 0; id < static_cast<op_id>(programs_[r].operations.size()); ++id)
        if (waiting_for_[global(r, id)] == 0) todo_.push_back({r, id});
    while (!todo_.empty() && !fault_) {
      const auto [rank, op] = todo_.back();
      todo_.pop_back();
      post(rank, op);
    }
    if (!fault_) report_deadlock();
  }

  void prepare() {
    waiting_for_.assign(first_.back(), 0);
    posted_.assign(first_.back(), 0);
    successors_.assign(first_.back(), {});
    contents_.resize(ranks_);
    for (int r = 0; r < ranks_; ++r) {
      for (place where : {place::send, place::recv, place::temp})
        contents_[r].of[static_cast<int>(where)].assign(slots_at(r, where), {});
      for (int i = 0; i < slots_at(r, place::send); ++i) contents_[r].of[0][i] = collective_.held(r, i);
      for (op_id id = 0; id < static_cast<op_id>(programs_[r].operations.size()); ++id)
        for (op_id earlier : programs_[r].after_of(programs_[r].operations[id])) {
          ++waiting_for_[global(r, id)];
          successors_[global(r, earlier)].push_back(id);
        }
    }
  }

  void post(int rank, op_id op) {
    posted_[global(rank, op)] = 1;
    if (programs_[rank].operations[op].kind == op_kind::copy) {
      const auto slots = slots_of(rank, op);
      if (!slots.empty()) write(rank, op, slots[1], read(rank, slots[0]));
      return complete(rank, op);
    }
    const transfer_end other = partner_[global(rank, op)];
    if (!posted_[global(other.peer, other.op)]) return;
    const bool sending = programs_[rank].operations[op].kind == op_kind::send;
    const transfer_end self{rank, op};
    move_blocks(sending ? self : other, sending ? other : self);
    complete(rank, op);
    complete(other.peer, other.op);
  }

  void move_blocks(transfer_end from, transfer_end to) {
    const auto out = slots_of(from.peer, from.op), in = slots_of(to.peer, to.op);
    for (std::size_t i = 0; i < out.size(); ++i) write(to.peer, to.op, in[i], read(from.peer, out[i]));
  }

  block_name read(int rank, slot s) const { return contents_[rank].of[s.where][s.index]; }

  void write(int rank, op_id op, slot s, block_name block) {
    contents_[rank].of[s.where][s.index] = block;
    if (s.at() != place::recv || collective_.wanted(rank, static_cast<int>(s.index)) == block) return;
    const auto& placed = contents_[rank].of[static_cast<int>(place::recv)];
    const bool again = std::count(placed.begin(), placed.end(), block) > 1;
    fail(again ? fault_kind::doubled_block : fault_kind::wrong_slot, rank, op,
         "puts block " + name(block) + " into " + to_string(s) + (again ? ", which it already delivered" : "") +
             "; that place is for " + name(collective_.wanted(rank, static_cast<int>(s.index))));
  }

  void complete(int rank, op_id op) {
    for (op_id next : successors_[global(rank, op)])
      if (--waiting_for_[global(rank, next)] == 0) todo_.push_back({rank, next});
    ++completed_;
  }

  void report_deadlock() {
    if (completed_ == first_.back()) return;
    for (int r = 0; r < ranks_; ++r)
      for (op_id id = 0; id < static_cast<op_id>(programs_[r].operations.size()); ++id) {
        if (!posted_[global(r, id)]) continue;
        const transfer_end other = partner_[global(r, id)];
        if (other.peer < 0 || posted_[global(other.peer, other.op)]) continue;
        return fail(fault_kind::deadlock, r, id,
                    "waits for operation " + std::to_string(other.op) + " of rank " + std::to_string(other.peer) +
                        ", which is never posted");
      }
  }

  void check_delivery(int r) {
    const auto& placed = contents_[r].of[static_cast<int>(place::recv)];
    for (int i = 0; i < static_cast<int>(placed.size()); ++i)
      if (!(placed[i] == collective_.wanted(r, i)))
        return fail(fault_kind::lost_block, r, -1,
                    "recv[" + std::to_string(i) + "] never gets block " + name(collective_.wanted(r, i)));
  }

  static std::string name(block_name b) {
    if (b.origin < 0) return "nothing";
    return "(" + std::to_string(b.origin) + "," + std::to_string(b.destination) + ")";
  }

  struct rank_contents {
    std::vector<block_name> of[3];  // by place
  };

  std::span<const schedule> programs_;
  const meaning& collective_;
  int ranks_;
  std::optional<fault> fault_;
  std::vector<std::size_t> first_;  // first global number of each rank's operations, and the total
  std::vector<transfer_end> partner_;
  std::vector<int> waiting_for_;
  std::vector<char> posted_;
  std::vector<std::vector<op_id>> successors_;
  std::vector<rank_contents> contents_;
  std::vector<transfer_end> todo_;
  std::size_t completed_ = 0;
};

}  // namespace

meaning alltoall_meaning(int ranks, int parts) {
  const auto slots = [=](int) { return ranks * parts; };
  return {slots, slots, [](int rank, int index) { return block_name{rank, index}; },
          [parts](int rank, int index) { return block_name{index / parts, rank * parts + index % parts}; }};
}

meaning neighbor_meaning(const neighbor_graph& graph) {
  return {[&](int rank) { return static_cast<int>(graph.destinations(rank).size()); },
          [&](int rank) { return static_cast<int>(graph.arrivals(rank).size()); },
          [](int rank, int index) { return block_name{rank, index}; },
          [&](int rank, int index) {
            const auto [source, edge] = graph.arrivals(rank)[index];
            return block_name{source, edge};
          }};
}

meaning allgather_meaning(int senders, int receivers, int parts) {
  const int ranks = senders + receivers;
  return {[=](int rank) { return rank < senders ? parts : 0; },
          [=](int rank) { return rank >= senders && rank < ranks ? senders * parts : 0; },
          [](int rank, int index) { return block_name{rank, index}; },
          [parts](int, int index) { return block_name{index / parts, index % parts}; }};
}

const char* to_string(fault_kind kind) {
  switch (kind) {
    case fault_kind::lost_block: return "lost block";
    case fault_kind::doubled_block: return "doubled block";
    case fault_kind::wrong_slot: return "wrong slot";
    case fault_kind::send_slot_written: return "send slot written";
    case fault_kind::written_twice: return "slot written twice";
    case fault_kind::read_before_write: return "slot read before it is written";
    case fault_kind::unmatched: return "unmatched transfer";
    case fault_kind::wrong_passing: return "wrong passing mark";
    case fault_kind::deadlock: return "deadlock";
    case fault_kind::any_order: return "messages in any order";
    default: return "bad reference";
  }
}

std::optional<fault> check(std::span<const schedule> programs, const meaning& collective) {
  return symbolic_run(programs, collective).run();
}

}  // namespace shoal
