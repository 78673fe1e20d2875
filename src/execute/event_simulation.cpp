#include "execute/event_simulation.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <queue>
#include <stdexcept>
#include <tuple>

#include "algorithms/relabelling.hpp"
#include "execute/linked_schedule.hpp"
#include "topology/node_layout.hpp"

namespace shoal {

namespace {

// What an operation of one rank waits for: the number of operations before it, and a bit that says whether its message
// has arrived already.
using waiting_for = std::uint16_t;
constexpr waiting_for arrived = 0x8000;

// A message comes to link number `hop` on its way, or, after the last link, to its receiver.
struct event {
  double when;
  std::int32_t sender, op : 24, hop : 8;

  bool operator>(const event& b) const {
    return std::tuple(when, sender, static_cast<int>(op)) > std::tuple(b.when, b.sender, static_cast<int>(b.op));
  }
};

// Events in the order of their times. The events of a span of time are put in order only when the span begins, so the
// heap holds few of the millions.
class event_queue {
 public:
  explicit event_queue(double span) : span_(span) {}

  bool empty() const { return now_.empty() && waiting_ == 0; }
  void push(const event& e) {
    const auto number = static_cast<std::size_t>(e.when / span_);
    if (number < begun_) return now_.push(e);
    if (number - begun_ >= later_.size()) later_.resize(number - begun_ + 1);
    later_[number - begun_].push_back(e);
    ++waiting_;
  }
  event pop() {
    for (; now_.empty(); ++begun_) {
      waiting_ -= later_.front().size();
      now_ = heap(std::greater<>(), std::move(later_.front()));
      later_.pop_front();
    }
    const event first = now_.top();
    now_.pop();
    return first;
  }

 private:
  using heap = std::priority_queue<event, std::vector<event>, std::greater<>>;

  double span_;
  heap now_;
  std::size_t begun_ = 0;  // spans begun so far
  std::deque<std::vector<event>> later_;
  std::size_t waiting_ = 0;
};

// The schedule of rank 0 stands for those of all ranks.
class event_simulation {
 public:
  event_simulation(const selection& chosen, const problem& at, double block, const event_machine& machine)
      : steps_(generate(chosen, at, 0)), at_(at), machine_(machine), block_(block), coming_(span_of(machine)) {
    if (machine.nodes < (at.nodes ? at.nodes->nodes() : at.ranks))
      throw std::invalid_argument("the machine has fewer nodes than the ranks need");
    if (machine.paths.size() != std::size_t(machine.nodes) * machine.nodes)
      throw std::invalid_argument("the machine needs a path from each node to each");
    for (int rank = 0; rank < at.ranks; ++rank) {
      const auto names = relabelling_of(chosen, at, rank);
      if (!names)
        throw std::invalid_argument(to_string(chosen) +
                                    ": the schedules of the ranks differ in more than the names of ranks");
      names_.push_back(*names);
    }
    match();
    const auto before = waits_of_all();
    for (int rank = 0; rank < at.ranks; ++rank) left_.insert(left_.end(), before.begin(), before.end());
    busy_until_.resize(at.ranks);
    free_at_.resize(machine.link_per_byte.size());
  }

  double run() {
    for (int rank = 0; rank < at_.ranks; ++rank)
      for (op_id id = 0; id < operations(); ++id)
        if (steps_.before[id] == 0) {
          ready_.assign(1, id);
          begin_ready(rank);
        }
    while (!coming_.empty()) move(coming_.pop());
    return *std::max_element(busy_until_.begin(), busy_until_.end());
  }

 private:
  int node_of(int rank) const { return at_.nodes ? at_.nodes->node_of(rank) : rank; }
  // About the time that a message needs from link to link, so that few new events fall into a span that has begun.
  static double span_of(const event_machine& machine) {
    const double step = std::max(machine.link_latency, machine.per_message);
    return step > 0 ? step : 1;
  }
  op_id operations() const { return static_cast<op_id>(steps_.operations.size()); }
  const operation& op(op_id id) const { return steps_.operations[id]; }
  double bytes(op_id id) const { return block_ * op(id).slot_count; }
  double work(op_id id) const { return machine_.per_message + machine_.per_message_byte * bytes(id); }
  waiting_for& left(int rank, op_id id) { return left_[std::size_t(rank) * operations() + id]; }

  std::vector<waiting_for> waits_of_all() const {
    for (const std::int32_t before : steps_.before)
      if (before >= arrived) throw std::invalid_argument("an operation comes after more than 32767 others");
    return {steps_.before.begin(), steps_.before.end()};
  }

  // Finds the operation that receives each message of rank 0, by the name that rank 0 has in the receiver's schedule.
  // The operation is the same for the messages of all ranks.
  void match() {
    std::map<std::pair<int, int>, op_id> receiving;  // by peer and number
    for (op_id id = 0; id < operations(); ++id)
      if (op(id).kind == op_kind::recv) receiving[{op(id).peer, steps_.sequence[id]}] = id;
    received_by_.resize(operations());
    for (op_id id = 0; id < operations(); ++id)
      if (op(id).kind == op_kind::send)
        received_by_[id] = receiving.at({names_[op(id).peer].name_of_0(), steps_.sequence[id]});
  }

  void begin_ready(int rank) {
    for (std::size_t next = 0; next < ready_.size(); ++next) begin(rank, ready_[next]);
  }

  void begin(int rank, op_id id) {
    if (op(id).kind == op_kind::recv) {
      if (left(rank, id) == arrived) receive(rank, id, 0);
      return;
    }
    if (op(id).kind == op_kind::send) {
      busy_until_[rank] += work(id);
      coming_.push({busy_until_[rank], rank, id, 0});
    }
    end(rank, id);
  }

  void end(int rank, op_id id) {
    for (const op_id next : steps_.successors(id))
      if ((--left(rank, next) & ~arrived) == 0) ready_.push_back(next);
  }

  void move(const event& message) {
    const int to = names_[message.sender](op(message.op).peer);
    const auto& path = machine_.paths[std::size_t(node_of(message.sender)) * machine_.nodes + node_of(to)];
    const auto hops = static_cast<int>(path.size());
    if (message.hop == std::max(1, hops)) return arrive(to, received_by_[message.op], message.when);
    double when = message.when + machine_.node_latency + bytes(message.op) * machine_.node_per_byte;
    if (hops > 0) {
      const double lasts = bytes(message.op) * machine_.link_per_byte[path[message.hop]];
      double& free = free_at_[path[message.hop]];
      const double begins = std::max(message.when, free);
      free = begins + lasts;
      when = begins + machine_.link_latency + (message.hop + 1 == hops ? lasts : 0);
    }
    coming_.push({when, message.sender, message.op, message.hop + 1});
  }

  void arrive(int rank, op_id id, double when) {
    if (left(rank, id) != 0) {
      left(rank, id) |= arrived;  // before the operation can begin
      return;
    }
    ready_.clear();
    receive(rank, id, when);
    begin_ready(rank);
  }

  void receive(int rank, op_id id, double when) {
    busy_until_[rank] = std::max(busy_until_[rank], when) + work(id);
    end(rank, id);
  }

  linked_schedule steps_;
  const problem& at_;
  const event_machine& machine_;
  double block_;
  std::vector<relabelling> names_;  // by rank
  std::vector<op_id> received_by_;  // per send
  std::vector<waiting_for> left_;   // by rank and operation
  std::vector<double> busy_until_;  // by rank
  std::vector<double> free_at_;     // by link
  std::vector<op_id> ready_;        // operations that can begin, of the rank that moves
  event_queue coming_;
};

}  // namespace

double simulate_events(const selection& chosen, const problem& at, double block_bytes, const event_machine& machine) {
  return event_simulation(chosen, at, block_bytes, machine).run();
}

}  // namespace shoal
