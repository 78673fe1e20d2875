// Which way around a ring of ranks each piece of the senders' data goes, and when. Positions are ranks: p senders,
// then q receivers. Each rank talks to its two neighbours only, and in a step sends and receives at most once.
#pragma once

#include <climits>

#include "algorithms/intergroup.hpp"

namespace shoal {

// Hop k = 0, 1, ... takes a piece from the k-th position behind its owner to the next position, one step after the hop
// before. Once, before hop rest_at, the piece rests.
struct ring_path {
  int hops = 0;
  int first = 1;  // the step of hop 0
  int rest_at = INT_MAX;
  int rest = 0;

  int step(int hop) const { return first + hop + (hop >= rest_at ? rest : 0); }
};

struct ring_route {
  ring_path up, down;  // to ascending positions; to descending ones, from 0 to the last position
};

// Shoal's schedule: p + ceil(q/2) - 1 steps, one more for p = 1 and q even; both are lower bounds.
//
// Source: Shoal's own. Every message is cut into `parts` pieces, P = p * parts in all. For each piece i there is a
// number X: the first X receivers get the piece upwards, the others downwards. Pieces in one direction leave two steps
// apart, so each direction leaves every other step to the other direction. If p + q is odd, the parities do not fit all
// around the ring.
// Layouts:
//   crossing    P + ceil(q/2) - 1 steps, if p + q is even or q >= 2p (parts-1). If p + q is odd, a piece on its way
//               down rests one step where it meets the first pieces on their way up
//   seam        P + ceil(q/2) - 1 steps, if there are two senders above which nothing goes down: pieces rest there
//   apart       2P + q/2 - 1 steps, if p = 1 and q is even: each direction serves one half of the receivers
//   one_way     P + q - 1 steps: always possible
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
  int seam_;  // the first sender from which on nothing goes down
  layout layout_;
};

// The paper's three-stage schedule, repaired. It takes p + q/2 steps if q is even and p is even or at least q.
// Otherwise it takes the steps of the next larger such pair of p and q, whose missing ranks are played by a neighbour:
// the missing sender p-1 by receiver 0, the missing receiver q-1 by the receiver before.
class paper_ring {
 public:
  paper_ring(int senders, int receivers);

  int positions() const { return p_ + q_; }
  int rank_at(int position) const;
  int steps() const { return p_ + q_ / 2; }
  // With all the transfers of the paper, some of which bring a second copy of a message or serve nobody.
  ring_route published_route(int message) const;
  // The same without those transfers, because a slot may be written only once.
  ring_route route(int message) const;

 private:
  int real_p_, real_q_, p_, q_;
};

// The ring allgather over both groups: every message goes all the way around, p + q - 1 steps.
inline ring_route union_ring_route(int ranks) { return {{ranks - 1, 1}, {}}; }

// Adds to a program the part that the rank `self`, at a position of the ring, takes in the route of one piece.
struct ring_place {
  int self, position, positions;
  int before, behind;  // the ranks at the positions one lower and one higher
};
void follow_route(step_program& out, const ring_place& at, int owner, int piece, const ring_route& route);

}  // namespace shoal
