// Ring network: schedules in which every rank talks to the next and the previous rank only.
//
// Source: ring: Shoal's own, optimal; ring_paper: half-duplex inter-group all-to-all broadcast, section IV, repaired;
// union_ring: the allgather of MPICH and Open MPI over both groups.
// Cost in steps of one message each, so the volume is the same number: ring p + ceil(q/2) - 1, one more for p = 1 and q
// even (both the least possible); ring_paper p + q/2; union_ring p + q - 1. ring with s segments takes
// p s + ceil(q/2) - 1 steps of 1/s message in the layouts that reach this: see optimal_ring.
// Applies: any two groups. One rank's program takes time and memory O(p), with segments O(p s).
#include <algorithm>
#include <cmath>

#include "algorithms/intergroup.hpp"
#include "algorithms/ring_routes.hpp"

namespace shoal {

namespace {

constexpr int most_segments = 1 << 16, most_segments_tried = 4096;

ring_place place_of(int rank, int ranks) { return {rank, rank, ranks, (rank + ranks - 1) % ranks, (rank + 1) % ranks}; }

schedule generate_ring(const problem& at, int rank, const arguments& with) {
  const int segments = with.number("segments", 1);
  const optimal_ring ring(at.senders, at.receivers(), segments);
  step_program out(at, rank, segments, paced(with));
  for (int piece = 0; piece < ring.pieces(); ++piece)
    follow_route(out, place_of(rank, at.ranks), ring.owner(piece), piece, ring.route(piece));
  return out.finish();
}

std::optional<std::string> refuses_ring(const problem& at, const arguments& with) {
  if (const auto reason = refuses_groups(at, with)) return reason;
  if (std::int64_t{at.senders} * with.number("segments", 1) <= max_slot_index) return std::nullopt;
  return "more than " + std::to_string(max_slot_index) + " segments of " + std::to_string(at.senders) + " messages";
}

intergroup_cost cost_in_segments(const problem& at, int segments) {
  const int steps = optimal_ring(at.senders, at.receivers(), segments).steps();
  return {steps, static_cast<double>(steps) / segments};
}

intergroup_cost ring_cost(const problem& at, const arguments& with) {
  return cost_in_segments(at, with.number("segments", 1));
}

// Of all layouts the one-way ring gains most from segments, until the startups of p s steps outweigh the q segments
// under way. So more segments than at that balance are not tried.
int best_segments(const problem& at, bool paced, double bytes, const link_cost& link) {
  const double balance = std::sqrt(at.receivers() * bytes * link.per_byte / (at.senders * link.startup));
  const double most = std::min({bytes, balance + 2, double{most_segments_tried}});
  int best = 1;
  double least = HUGE_VAL;
  for (int segments = 1; segments == 1 || segments <= most; ++segments) {
    const double seconds = seconds_of(cost_in_segments(at, segments), paced, bytes, link);
    if (seconds < least) best = segments;
    least = std::min(least, seconds);
  }
  return best;
}

// On a fully connected network the ring suits long messages to many receivers: its volume is p and a few segments.
std::vector<std::string> ring_variants(const problem& at, std::string_view network, double bytes,
                                       const link_cost& link) {
  if (network != "full" && network != "ring") return {};
  std::vector<std::string> all;
  for (const bool paced : {false, true})
    all.push_back("ring:segments=" + std::to_string(best_segments(at, paced, bytes, link)) +
                  (paced ? ",paced=yes" : ""));
  return all;
}

schedule generate_union_ring(const problem& at, int rank, const arguments&) {
  step_program out(at, rank);
  for (int message = 0; message < at.senders; ++message)
    follow_route(out, place_of(rank, at.ranks), message, message, union_ring_route(at.ranks));
  return out.finish();
}

// A rank plays its own position, and the positions of missing ranks beside it.
schedule generate_ring_paper(const problem& at, int rank, const arguments&) {
  const paper_ring ring(at.senders, at.receivers());
  const int n = ring.positions();
  step_program out(at, rank);
  for (int position = rank; position < std::min(n, rank + 3); ++position) {
    if (ring.rank_at(position) != rank) continue;
    const ring_place place{rank, position, n, ring.rank_at((position + n - 1) % n), ring.rank_at((position + 1) % n)};
    for (int message = 0; message < at.senders; ++message)
      follow_route(out, place, message, message, ring.route(message));
  }
  return out.finish();
}

intergroup_cost union_ring_cost(const problem& at, const arguments&) { return {at.ranks - 1, at.ranks - 1.0}; }

// If a group has an odd number of ranks, the steps are at most these.
intergroup_cost ring_paper_cost(const problem& at, const arguments&) {
  const int steps = paper_ring(at.senders, at.receivers()).steps();
  return {steps, static_cast<double>(steps)};
}

std::vector<std::string> paper_on_rings(const problem&, std::string_view network, double, const link_cost&) {
  return only_on("ring", network, {"ring_paper"});
}

std::vector<std::string> union_on_rings(const problem&, std::string_view network, double, const link_cost&) {
  return only_on("ring", network, {"union_ring"});
}

}  // namespace

std::vector<algorithm> intergroup_rings() {
  algorithm ring = intergroup_entry("ring", "both ways around a ring, in the least number of steps",
                                    "Shoal; optimal for any two groups", generate_ring, ring_cost);
  ring.parameters = {{"segments", "parts a message is cut into, for long messages", "1", {}, 1, most_segments},
                     paced_parameter()};
  ring.refuses = refuses_ring;
  ring.network = "ring";
  ring.on_network = ring_variants;
  algorithm paper =
      intergroup_entry("ring_paper", "both ways around a ring in three stages, as published and repaired",
                       "half-duplex inter-group all-to-all broadcast, ring", generate_ring_paper, ring_paper_cost);
  paper.on_network = paper_on_rings;
  algorithm all_around =
      intergroup_entry("union_ring", "every message all the way around a ring: the baseline",
                       "ring allgather of MPICH and Open MPI over both groups", generate_union_ring, union_ring_cost);
  all_around.on_network = union_on_rings;
  return {ring, paper, all_around};
}

}  // namespace shoal
