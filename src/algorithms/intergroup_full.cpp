// Fully connected network: every sender spreads its message over receivers of its own, then groups of p ranks gather.
//
// Source: half-duplex inter-group all-to-all broadcast, section III. Shoal adds the mixed group, which the paper
// lacks, for a p that does not divide q.
// Cost, n = ceil(q/p) + 1: binomial L(n) + L(p) rounds, volume L(n) + p - 1; split 2 L(n) + L(p) rounds, volume at
// most p + 1 if p divides q; the ring allgather has p - 1 rounds instead of L(p).
// Applies: any two groups. One rank's program takes time and memory O(p), with split O(p * q/p).
#include <bit>

#include "algorithms/allgather_pattern.hpp"
#include "algorithms/intergroup.hpp"
#include "algorithms/list_broadcast.hpp"

namespace shoal {

namespace {

// In the first phase sender i spreads its message over list i: itself, then receivers i, i + p, i + 2p, ... In the
// second phase groups gather. Group c is receivers cp .. cp+p-1; if there are too few, the senders of the positions
// that are left take these. The rank at position j holds message j.
class two_phases {
 public:
  two_phases(const problem& at, int rank, const arguments& with)
      : p_(at.senders),
        q_(at.receivers()),
        rank_(rank),
        prune_(with.word("prune") == "yes"),
        split_(with.word("spread") == "split" && q_ > p_),
        parts_(split_ ? longest_list() : 1),
        pattern_(allgather_pattern::parse(with.word("allgather"), p_), p_),
        out_(at, rank, parts_, paced(with)) {}

  schedule run() {
    spread();
    if (group() >= 0) gather();
    return out_.finish();
  }

 private:
  int longest_list() const { return 1 + ceil_div(q_, p_); }
  int half_spread() const { return ceil_log2(longest_list()); }
  int spread_rounds() const { return half_spread() * (split_ ? 2 : 1); }

  void spread() {
    const int list = rank_ < p_ ? rank_ : (rank_ - p_) % p_;
    const int members = 1 + q_ / p_ + (list < q_ % p_);
    const auto rank_of = [=, this](int member) { return list + member * p_; };
    list_broadcast cast(out_, members, rank_ / p_, rank_of, list * parts_, parts_);
    if (split_) cast.split(1, half_spread());
    else cast.binomial(1);
  }

  // The group in which this rank gathers, or -1. The rank at position j of any group is j modulo p.
  int group() const {
    if (rank_ >= p_) return rank_ / p_ - 1;
    return rank_ >= q_ % p_ && q_ % p_ > 0 ? q_ / p_ : -1;
  }
  int rank_of(int position) const { return position < receivers() ? (group() + 1) * p_ + position : position; }
  // How many receivers this rank's group has; theirs are the positions below that number.
  int receivers() const { return group() < q_ / p_ ? p_ : q_ % p_; }

  void gather() {
    for (int round = 0; round < pattern_.rounds(); ++round) {
      const int self = rank_ % p_, step = spread_rounds() + 1 + round;
      const auto turn = pattern_.at(round, self);
      out_.send(step, rank_of(turn.to), pieces_for(turn.to, turn.first_out, turn.count));
      out_.receive(step, rank_of(turn.from), pieces_for(self, turn.first_in, turn.count));
    }
  }

  std::vector<int> pieces_for(int position, int first, int count) const {
    std::vector<int> pieces;
    for (int i = 0; i < count; ++i) {
      const int message = (first + i) % p_;
      if (!wanted(position, message)) continue;
      for (int part = 0; part < parts_; ++part) pieces.push_back(message * parts_ + part);
    }
    return pieces;
  }

  // A sender wants a copy only to pass it on to a receiver: if position - stride * c is below receivers() for some c.
  bool wanted(int position, int message) const {
    if (!prune_ || position < receivers()) return true;
    const auto served = pattern_.served_by_copy(position, message);
    const int c = ceil_div(position - receivers() + 1, served.stride);
    return c <= served.count && c * served.stride <= position;
  }

  int p_, q_, rank_;
  bool prune_, split_;
  int parts_;
  allgather_pattern pattern_;
  step_program out_;
};

schedule generate_full(const problem& at, int rank, const arguments& with) { return two_phases(at, rank, with).run(); }

std::optional<std::string> refuses_full(const problem& at, const arguments& with) {
  if (const auto reason = refuses_groups(at, with)) return reason;
  if (with.word("allgather") != "recursive_doubling" || power_of_two(at.senders)) return std::nullopt;
  return "recursive doubling needs a power of two of senders, not " + std::to_string(at.senders);
}

intergroup_cost full_cost(const problem& at, const arguments& with) {
  const int p = at.senders, q = at.receivers(), n = ceil_div(q, p) + 1;
  const int gather = with.word("allgather") == "ring" ? p - 1 : ceil_log2(p);
  if (with.word("spread") == "binomial" || q <= p) return {ceil_log2(n) + gather, ceil_log2(n) + p - 1.0};
  // If p does not divide q, some lists are one member shorter, and the share of their root is two of the n parts.
  const int uneven = q % p == 0 ? 0 : std::bit_width(static_cast<unsigned>(n - 1)) - 1;
  return {2 * ceil_log2(n) + gather, (2.0 * (n - 1) + uneven) / n + p - 1};
}

std::vector<std::string> full_variants(const problem&, std::string_view network, double, const link_cost&) {
  return only_on("full", network, {"full:paced=yes", "full:spread=split", "full:spread=split,paced=yes"});
}

}  // namespace

algorithm intergroup_full() {
  algorithm a =
      intergroup_entry("full", "spread over the receivers, then gather in groups of as many ranks as senders",
                       "half-duplex inter-group all-to-all broadcast, fully connected", generate_full, full_cost);
  a.parameters = {{"spread",
                   "how a sender reaches its receivers: split moves less, binomial takes fewer rounds",
                   "binomial",
                   {"binomial", "split"}},
                  {"allgather",
                   "how a group gathers; auto: recursive_doubling for a power of two of senders, else bruck",
                   "auto",
                   {"auto", "recursive_doubling", "bruck", "ring"}},
                  {"prune", "no: senders also get what they do not pass on, as published", "yes", {"yes", "no"}},
                  paced_parameter()};
  a.refuses = refuses_full;
  a.network = "full";
  a.on_network = full_variants;
  return a;
}

}  // namespace shoal
