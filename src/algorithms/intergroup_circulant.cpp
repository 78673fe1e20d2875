// Fully connected network, fewest rounds: one Bruck allgather over both groups, in which receivers give nothing.
//
// Source: Shoal's own. Senders and receivers are spread evenly over a circle, so that the windows that Bruck moves hold
// few messages. Copies that serve no receiver are left out.
// Cost: L(p+q) rounds, volume at most the sum of ceil(w p / (p+q)) over the windows w of the rounds.
// Applies: any two groups. One rank's program takes time O((p+q) log(p+q)) at worst, O(p + log q) as a rule.
#include <algorithm>

#include "algorithms/allgather_pattern.hpp"
#include "algorithms/intergroup.hpp"

namespace shoal {

namespace {

// Position x of the circle is the next sender if floor((x+1) p/N) > floor(x p/N), else the next receiver.
class circle {
 public:
  explicit circle(const problem& at) : p_(at.senders), n_(at.ranks) {}

  bool sends(int position) const { return senders_before(position + 1) > senders_before(position); }
  int rank_at(int position) const {
    const int senders = senders_before(position);
    return sends(position) ? senders : p_ + position - senders;
  }
  int position_of(int rank) const {
    if (rank < p_) return static_cast<int>(((rank + std::int64_t{1}) * n_ + p_ - 1) / p_) - 1;
    return static_cast<int>(std::int64_t{rank - p_} * n_ / (n_ - p_));
  }
  // How many senders are at positions below this one; positions may go on around the circle.
  int senders_before(std::int64_t position) const { return static_cast<int>(position * p_ / n_); }

 private:
  int p_, n_;
};

class circulant {
 public:
  circulant(const problem& at, int rank)
      : p_(at.senders),
        n_(at.ranks),
        circle_(at),
        self_(circle_.position_of(rank)),
        pattern_(allgather_pattern::kind::bruck, at.ranks),
        out_(at, rank) {}

  schedule run() {
    for (int round = 0; round < pattern_.rounds(); ++round) {
      const auto turn = pattern_.at(round, self_);
      out_.send(round + 1, circle_.rank_at(turn.to), messages_for(turn.to, turn.first_out, turn.count));
      out_.receive(round + 1, circle_.rank_at(turn.from), messages_for(self_, turn.first_in, turn.count));
    }
    return out_.finish();
  }

 private:
  // The messages that the rank at `position` wants, of the senders in a window of the circle.
  std::vector<int> messages_for(int position, int first, int count) const {
    std::vector<int> messages;
    const int end = circle_.senders_before(std::int64_t{first} + count);
    for (int sender = circle_.senders_before(first); sender < end; ++sender)
      if (wanted(position, sender % p_)) messages.push_back(sender % p_);
    return messages;
  }

  bool wanted(int position, int message) const {
    if (!circle_.sends(position)) return true;
    const auto served = pattern_.served_by_copy(position, circle_.position_of(message));
    for (int c = 1; c <= served.count; ++c)
      if (!circle_.sends((position - served.stride * c + n_) % n_)) return true;
    return false;
  }

  int p_, n_;
  circle circle_;
  int self_;
  allgather_pattern pattern_;
  step_program out_;
};

schedule generate_circulant(const problem& at, int rank, const arguments&) { return circulant(at, rank).run(); }

// The volume is an upper bound: a window of w positions on the circle has at most ceil(w p / (p+q)) senders.
intergroup_cost circulant_cost(const problem& at, const arguments&) {
  const std::int64_t n = at.ranks;
  intergroup_cost sum;
  for (std::int64_t distance = 1; distance < n; distance *= 2) {
    ++sum.steps;
    sum.volume += static_cast<double>((std::min(distance, n - distance) * at.senders + n - 1) / n);
  }
  return sum;
}

std::vector<std::string> where_all_are_connected(const problem&, std::string_view network, double, const link_cost&) {
  return only_on("full", network, {"circulant"});
}

}  // namespace

algorithm intergroup_circulant() {
  algorithm a = intergroup_entry(
      "circulant", "Bruck over both groups, interleaved: fewest rounds, a little more volume",
      "Shoal; Bruck's allgather on a circle of senders and receivers", generate_circulant, circulant_cost);
  a.on_network = where_all_are_connected;
  return a;
}

}  // namespace shoal
