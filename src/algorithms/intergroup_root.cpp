// The baseline: gather to the first sender, hand over to the first receiver, broadcast among the receivers.
//
// Source: MPICH and Open MPI.
// Cost: binomial L(p) + 1 + L(q) rounds, volume 2p - 1 + p L(q); split L(p) + 1 + 2 L(q) rounds, volume about
// 2p - 1 + 2p (q-1)/q.
// Applies: any two groups. One rank's program takes time and memory proportional to the pieces it moves.
#include <algorithm>
#include <numeric>

#include "algorithms/intergroup.hpp"
#include "algorithms/list_broadcast.hpp"

namespace shoal {

namespace {

// How many parts of a message let the receivers share all pieces evenly, or evenly to an eighth of a share.
int parts_for_split(int p, int q) { return std::min(q / std::gcd(p, q), ceil_div(8 * q, p)); }

class root_gathering {
 public:
  root_gathering(const problem& at, int rank, bool split)
      : p_(at.senders),
        q_(at.receivers()),
        rank_(rank),
        split_(split),
        parts_(split ? parts_for_split(p_, q_) : 1),
        out_(at, rank, parts_) {}

  schedule run() {
    if (rank_ < p_) gather();
    hand_over(ceil_log2(p_) + 1);
    if (rank_ >= p_) broadcast(ceil_log2(p_) + 2);
    return out_.finish();
  }

 private:
  // Binomial: in round d sender x hands all it has to x - 2^d, if 2^d is the lowest bit of x.
  void gather() {
    for (int round = 0; 1 << round < p_; ++round) {
      const int distance = 1 << round, place = rank_ % (2 * distance);
      if (place == distance) {
        out_.send(round + 1, rank_ - distance, messages(rank_, rank_ + distance));
        return;
      }
      if (rank_ + distance < p_)
        out_.receive(round + 1, rank_ + distance, messages(rank_ + distance, rank_ + 2 * distance));
    }
  }

  void hand_over(int step) {
    if (rank_ == 0) out_.send(step, p_, messages(0, p_));
    if (rank_ == p_) out_.receive(step, 0, messages(0, p_));
  }

  void broadcast(int first_step) {
    const auto rank_of = [this](int member) { return p_ + member; };
    list_broadcast cast(out_, q_, rank_ - p_, rank_of, 0, p_ * parts_);
    if (split_) cast.split(first_step, ceil_log2(q_));
    else cast.binomial(first_step);
  }

  // The pieces of the messages first .. end-1, as far as these exist.
  std::vector<int> messages(int first, int end) const {
    std::vector<int> pieces((std::min(end, p_) - first) * parts_);
    std::iota(pieces.begin(), pieces.end(), first * parts_);
    return pieces;
  }

  int p_, q_, rank_;
  bool split_;
  int parts_;
  step_program out_;
};

schedule generate_root_gathering(const problem& at, int rank, const arguments& with) {
  return root_gathering(at, rank, with.word("broadcast") == "split").run();
}

// With broadcast=split the volume is only approximate.
intergroup_cost root_gathering_cost(const problem& at, const arguments& with) {
  const int until_broadcast = ceil_log2(at.senders) + 1, rounds = ceil_log2(at.receivers());
  const double p = at.senders, q = at.receivers();
  if (with.word("broadcast") == "binomial") return {until_broadcast + rounds, 2 * p - 1 + p * rounds};
  return {until_broadcast + 2 * rounds, 2 * p - 1 + 2 * p * (q - 1) / q};
}

std::vector<std::string> root_gatherings(const problem&, std::string_view network, double, const link_cost&) {
  return only_on("full", network, {"root_gathering", "root_gathering:broadcast=split"});
}

}  // namespace

algorithm intergroup_root_gathering() {
  algorithm a = intergroup_entry("root_gathering", "gather to one sender, hand over to one receiver, broadcast",
                                 "the baseline: MPICH, Open MPI", generate_root_gathering, root_gathering_cost);
  a.parameters = {{"broadcast",
                   "among the receivers: split moves less, binomial takes fewer rounds",
                   "binomial",
                   {"binomial", "split"}}};
  a.on_network = root_gatherings;
  return a;
}

}  // namespace shoal
