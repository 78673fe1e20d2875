// Linear exchanges: every block goes straight from its origin to its destination.
//
// Source: the baselines of the TuNA paper and of MPICH and Open MPI.
// Cost: K = D = P-1 messages of one block each. The algorithms differ in the order of the messages and in how many are
// in flight together.
// Applies: any number of ranks, uniform or not.
#include "algorithms/batches.hpp"
#include "algorithms/digits.hpp"
#include "algorithms/families.hpp"
#include "algorithms/waves.hpp"

namespace shoal {

namespace {

op_id send_block(builder& b, int to, std::span<const op_id> after) {
  const slot block = send_slot(to);
  return b.send(to, {&block, 1}, after);
}

op_id receive_block(builder& b, int from, std::span<const op_id> after) {
  const slot block = recv_slot(from);
  return b.recv(from, {&block, 1}, after);
}

void copy_own_block(builder& b) { b.copy(send_slot(b.rank()), recv_slot(b.rank())); }

// Rank p sends to p + direction * i and receives from p - direction * i, for i = 1..P-1 in batches of block_count.
schedule by_distance(int ranks, int rank, int block_count, int direction) {
  builder b(ranks, rank);
  copy_own_block(b);
  window batches(1);
  const auto peer = [&](int request, int towards) { return modulo(rank + towards * (request + 1), ranks); };
  in_batches(
      b, batches, {ranks - 1, block_count},
      [&](int k) { batches.add(receive_block(b, peer(k, -direction), batches.before())); },
      [&](int k) { batches.add(send_block(b, peer(k, direction), batches.before())); });
  return b.finish();
}

// In MPICH's direction: rank p sends to p - 1, then to p - 2, and so on.
schedule generate_scattered(const problem& at, int rank, const arguments& with) {
  return by_distance(at.ranks, rank, with.number("block_count", all_requests), -1);
}

schedule generate_spread_out(const problem& at, int rank, const arguments&) {
  return by_distance(at.ranks, rank, all_requests, -1);
}

schedule generate_pairwise(const problem& at, int rank, const arguments&) { return by_distance(at.ranks, rank, 1, +1); }

// Open MPI's order: every rank starts with the same target, which makes that rank a hot spot.
schedule generate_linear(const problem& at, int rank, const arguments&) {
  builder b(at.ranks, rank);
  copy_own_block(b);
  for (int peer = 0; peer < at.ranks; ++peer)
    if (peer != rank) receive_block(b, peer, {});
  for (int peer = 0; peer < at.ranks; ++peer)
    if (peer != rank) send_block(b, peer, {});
  return b.finish();
}

// Inside a node, one pass over its shared memory (transport/node_window.hpp); spread_out if there is no such memory.
schedule generate_shared(const problem& at, int rank, const arguments& with) {
  schedule program = generate_spread_out(at, rank, with);
  program.shared_memory = true;
  return program;
}

// The partner of p in a round-robin tournament of n players, n odd: the q with p + q = round (mod n). A player that is
// its own partner is idle.
int tournament_partner(int p, int round, int n) { return modulo(round - p, n); }

// Every round pairs the ranks. If P is a power of two, p meets p xor (round + 1). If P is odd, the rounds are a
// tournament of P ranks; else a tournament of P-1 ranks, in which the idle rank meets rank P-1.
int mutual_partner(int ranks, int p, int round) {
  if ((ranks & (ranks - 1)) == 0) return p ^ (round + 1);
  if (ranks % 2 == 1) return tournament_partner(p, round, ranks);
  const int n = ranks - 1;
  if (p < n) {
    const int q = tournament_partner(p, round, n);
    return q == p ? n : q;
  }
  return static_cast<int>(static_cast<std::int64_t>(round % n) * ((n + 1) / 2) % n);  // the q with 2q = round (mod n)
}

schedule generate_exclusive_or(const problem& at, int rank, const arguments&) {
  builder b(at.ranks, rank);
  copy_own_block(b);
  const int last = at.ranks % 2 == 1 ? at.ranks : at.ranks - 1;
  window rounds(1);
  for (int round = 0; round < last && at.ranks > 1; ++round) {
    const int partner = mutual_partner(at.ranks, rank, round);
    if (partner == rank) continue;
    b.step(round);
    rounds.add(receive_block(b, partner, rounds.before()));
    rounds.add(send_block(b, partner, rounds.before()));
    rounds.next_group();
  }
  return b.finish();
}

// ---- cost, and where each algorithm is worth trying ------------------------------------------------------------

std::optional<std::vector<wave>> waves_at_once(const equal_nodes& at, const arguments&) {
  return linear_waves(at, at.ranks());
}

std::optional<std::vector<wave>> waves_one_by_one(const equal_nodes& at, const arguments&) {
  return linear_waves(at, 1);
}

std::optional<std::vector<wave>> waves_in_batches(const equal_nodes& at, const arguments& with) {
  return linear_waves(at, with.number("block_count", at.ranks()));
}

bool on_one_node(const problem& at) { return largest_node(at) == at.ranks; }

using specs = std::vector<std::string>;

specs spread_out_tried(const problem& at) { return on_one_node(at) ? specs{} : specs{"spread_out"}; }
specs spread_out_measured(const problem&) { return {"spread_out"}; }
specs scattered_measured(const problem&) { return {"scattered:block_count=4"}; }
specs pairwise_measured(const problem&) { return {"pairwise"}; }
specs shared_worth(const problem& at) { return on_one_node(at) ? specs{"shared"} : specs{}; }

algorithm entry(const char* name, const char* summary, const char* source,
                schedule (*generate)(const problem&, int, const arguments&)) {
  algorithm a;
  a.name = name;
  a.summary = summary;
  a.source = source;
  a.generate = generate;
  return a;
}

}  // namespace

std::vector<algorithm> linear_family() {
  algorithm spread_out = entry("spread_out", "linear, all messages at once, each rank starting with its neighbour",
                               "TuNA paper, baselines", generate_spread_out);
  spread_out.alike = around_one_ring;
  spread_out.tried = spread_out_tried;
  spread_out.turn = 1;
  spread_out.measured = spread_out_measured;
  spread_out.waves = waves_at_once;
  algorithm scattered = entry("scattered", "linear in batches of block_count messages", "MPICH's scattered alltoallv",
                              generate_scattered);
  scattered.parameters = {block_count_parameter()};
  scattered.alike = around_one_ring;
  scattered.measured = scattered_measured;
  scattered.waves = waves_in_batches;
  algorithm shared = entry(
      "shared",
      "linear, inside a node through its shared memory: small blocks are copied in and out, those from 64 KiB on once",
      "classic; as in the shared-memory collectives of MPI libraries", generate_shared);
  shared.alike = around_one_ring;
  shared.tried = shared.measured = shared_worth;
  algorithm linear = entry("linear", "linear, all messages at once, every rank in ascending order",
                           "Open MPI's basic linear", generate_linear);
  linear.waves = waves_at_once;
  algorithm pairwise = entry("pairwise", "linear, one partner to send to and one to receive from at a time",
                             "MPICH, Open MPI", generate_pairwise);
  pairwise.measured = pairwise_measured;
  pairwise.waves = waves_one_by_one;
  algorithm exclusive_or = entry("exclusive_or", "linear, ranks meet in mutual pairs, for any number of ranks",
                                 "classic; round-robin matchings when P is not a power of two", generate_exclusive_or);
  exclusive_or.waves = waves_one_by_one;
  return {spread_out, scattered, shared, linear, pairwise, exclusive_or};
}

}  // namespace shoal
