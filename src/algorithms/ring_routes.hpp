// Which way around a ring of ranks each piece of the senders' data goes, and when. Positions are ranks: p senders,
// then q receivers; each talks to its two neighbours only, and in a step sends once and receives once at most.
#pragma once

#include <climits>

#include "algorithms/intergroup.hpp"

namespace shoal {

// Hop k = 0, 1, ... takes a piece from the k-th position behind its owner to the next one, a step after the hop
// before; once, before hop rest_at, it rests.
struct ring_path {
  int hops = 0;
  int first = 1;  // the step of hop 0
  int rest_at = INT_MAX;
  int rest = 0;

  int step(int hop) const { return first + hop + (hop >= rest_at ? rest : 0); }
};

struct ring_route {
  ring_path up, down;  // to ascending positions; to descending ones, the last position following 0
};

// Shoal's schedule: p + ceil(q/2) - 1 steps, one more for p = 1 and q even; both are lower bounds.
//
// Source: Shoal's own. Every message is cut into `parts` pieces, P = p * parts in
// all; the first X receivers get piece i upwards, the others downwards. Pieces in one direction leave two steps apart,
// so each direction leaves every other step to the other one; for p + q odd the parities do not fit all around.
// Layouts:
//   crossing    P + ceil(q/2) - 1 steps: p + q even, or q >= 2p (parts-1): a piece on its way down rests one step where
//               it meets the first pieces on their way up
//   seam        P + ceil(q/2) - 1 steps: the rest is between two senders above which nothing goes down; needs such
//   apart       2P + q/2 - 1 steps: p = 1 and q even, each half of the receivers served by one direction
//   one_way     P + q - 1 steps: always
// The conditions of crossing and seam are exact: found by enumeration (p <= 10, q < 70, parts <= 7), asserted by tests.
class optimal_ring {
 public:
  optimal_ring(int senders, int receivers, int parts = 1);

  int pieces() const { return p_ * parts_; }
  int owner(int piece) const { return piece / parts_; }
  ring_route route(int piece) const;
  int steps() const;

 private:
  enum class layout { crossing, seam, apart, one_way };

  layout choose() const;
  int half() const { return ceil_div(q_, 2); }
  bool even() const { return (p_ + q_) % 2 == 0; }
  int served_upwards(int piece) const;
  ring_path up(int piece) const;
  ring_path down(int piece) const;
  ring_path crossing_down(int piece) const;

  int p_, q_, parts_;
  int seam_;  // the first sender above which nothing goes down
  layout how_;
};

// The paper's three-stage schedule, repaired: p + q/2 steps for q even and p >= q or even, else those of the next such
// pair, whose missing ranks are played by a neighbour: the missing sender p-1 by receiver 0, the missing receiver q-1
// by the one before.
class paper_ring {
 public:
  paper_ring(int senders, int receivers);

  int positions() const { return p_ + q_; }
  int rank_at(int position) const;
  int steps() const { return p_ + q_ / 2; }
  // With all the transfers of the paper, some of which bring a second copy of a message or serve nobody.
  ring_route published_route(int message) const;
  // Without these: a slot is written once.
  ring_route route(int message) const;

 private:
  int real_p_, real_q_, p_, q_;
};

// The ring allgather over both groups: every message goes all the way around, p + q - 1 steps.
inline ring_route union_ring_route(int ranks) { return {{ranks - 1, 1}, {}}; }

// The part that the rank `self` at a position of the ring takes in the route of one piece.
struct ring_place {
  int self, position, positions;
  int before, behind;  // the ranks at the positions one lower and one higher
};
void follow_route(step_program& out, const ring_place& at, int owner, int piece, const ring_route& route);

}  // namespace shoal
