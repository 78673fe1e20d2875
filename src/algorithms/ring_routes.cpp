#include "algorithms/ring_routes.hpp"

#include <algorithm>

namespace shoal {

// ---- the optimal schedule ------------------------------------------------------------------------------------

// Piece i goes only upwards if upwards it reaches the last receiver (in step 2(P-1-i) + q) before it would get there
// downwards (in step 2i + e, with e = 1 for q even, else 2). The seam is the first sender whose pieces all do so.
optimal_ring::optimal_ring(int senders, int receivers, int parts) : p_(senders), q_(receivers), parts_(parts) {
  const std::int64_t bound = 2 * std::int64_t{pieces()} - 2 + q_ - (q_ % 2 == 0 ? 1 : 2);
  seam_ = std::max(1, static_cast<int>(std::min<std::int64_t>(p_, bound / (4 * std::int64_t{parts_}) + 1)));
  layout_ = choose();
}

optimal_ring::layout optimal_ring::choose() const {
  if (p_ == 1 && q_ % 2 == 0) return parts_ <= q_ / 2 ? layout::apart : layout::one_way;
  if (even() || q_ >= 2 * std::int64_t{p_} * (parts_ - 1)) return layout::crossing;
  return seam_ < p_ ? layout::seam : layout::one_way;
}

int optimal_ring::steps() const {
  switch (layout_) {
    case layout::one_way: return pieces() + q_ - 1;
    case layout::apart: return 2 * pieces() + half() - 1;
    default: return pieces() + half() - 1;
  }
}

ring_route optimal_ring::route(int piece) const { return {up(piece), down(piece)}; }

int optimal_ring::served_upwards(int piece) const {
  if (layout_ == layout::one_way) return q_;
  if (layout_ == layout::apart) return half();
  return std::clamp(2 * piece + 1 - pieces() + half(), 0, q_);
}

ring_path optimal_ring::up(int piece) const {
  const int served = served_upwards(piece), before = p_ - 1 - owner(piece);  // hops to the last sender
  if (served == 0) return {};
  const int hops = before + served, left = pieces() - 1 - piece;
  if (layout_ == layout::one_way) return {hops, left + 1 - before};
  if (layout_ == layout::apart) return {hops, 2 * piece + 1};
  const int first = 2 * left + 1 - before;
  if (layout_ == layout::seam && owner(piece) < seam_) return {hops, first - 1, seam_ - owner(piece), 1};
  return {hops, first};
}

ring_path optimal_ring::down(int piece) const {
  const int served = q_ - served_upwards(piece);
  if (served == 0) return {};
  ring_path path;
  if (layout_ == layout::apart) path.first = 2 * piece + 2;
  else if (layout_ == layout::seam || even()) path.first = 2 * piece - owner(piece) + (q_ % 2 == 0 ? 1 : 2);
  else path = crossing_down(piece);
  path.hops = owner(piece) + served;
  return path;
}

// For p + q odd. The first piece that goes up comes to rank p + t in step t + 1; a piece that goes down rests where the
// two meet.
ring_path optimal_ring::crossing_down(int piece) const {
  const int start = 2 * piece - owner(piece);
  if (q_ % 2 == 0 && piece == 0) return {0, start + 1};
  return {0, start + q_ % 2, std::max(0, owner(piece) - piece + q_ / 2), 1};
}

// ---- the paper's schedule --------------------------------------------------------------------------------------

paper_ring::paper_ring(int senders, int receivers)
    : real_p_(senders), real_q_(receivers), p_(senders), q_(receivers + receivers % 2) {
  if (p_ < q_) p_ += p_ % 2;
}

int paper_ring::rank_at(int position) const {
  const int without_sender = position - (p_ > real_p_ && position >= p_);
  return std::min(without_sender, real_p_ + real_q_ - 1);
}

// The paper's sequences, with its stages joined: #1 and #3 go up, #2 and #4 go down.
ring_route paper_ring::published_route(int message) const {
  const int n = positions(), h = q_ / 2, c = std::min(p_, q_) / 2, m = message;
  if (m < c) {
    const int resumed = std::max(p_, (p_ + q_) / 2) + m + 1;  // the step, counted from 0, in which #2 moves on
    return {{steps() - (c - m), c - m + 1}, {h + std::max(0, steps() - resumed), 1, h, resumed - h}};
  }
  ring_route route{{std::min(n - 1 - m, steps()), 1}, {}};
  if (p_ < q_) {
    const int guarded = ceil_div(c + q_ - 2, 2), in_two_stages = h + p_ - m - 1;
    route.down = {std::min(std::max(m, guarded), in_two_stages), m - c + 2};
  }
  return route;
}

ring_route paper_ring::route(int message) const {
  ring_route route = published_route(message);
  const int served_upwards = std::max(0, message + route.up.hops - (p_ - 1));
  const int served_downwards = std::min(q_ - served_upwards, route.down.hops - message);
  const bool only_missing = served_downwards == 1 && q_ > real_q_;
  route.down.hops = served_downwards <= 0 || only_missing ? 0 : message + served_downwards;
  return route;
}

// ---- one rank's part -------------------------------------------------------------------------------------------

namespace {

// This rank is `hop` hops from the owner of a piece, gets the piece from one side and passes it on to the other side.
struct ring_passage {
  int from, self, to, hop;
};

// Nothing moves between two positions of the same rank.
void follow_path(step_program& out, int piece, const ring_path& path, const ring_passage& here) {
  const int hop = here.hop;
  if (hop > 0 && hop <= path.hops && here.from != here.self) out.receive(path.step(hop - 1), here.from, {&piece, 1});
  if (hop < path.hops && here.to != here.self) out.send(path.step(hop), here.to, {&piece, 1});
}

}  // namespace

void follow_route(step_program& out, const ring_place& at, int owner, int piece, const ring_route& route) {
  const int upwards = (at.position - owner + at.positions) % at.positions;
  const int downwards = (owner - at.position + at.positions) % at.positions;
  follow_path(out, piece, route.up, {at.before, at.self, at.behind, upwards});
  follow_path(out, piece, route.down, {at.behind, at.self, at.before, downwards});
}

}  // namespace shoal
