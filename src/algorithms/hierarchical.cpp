// Hierarchical exchange: inside the nodes first, then between them, each part with a flat family.
//
// Source: TuNA_l^g of the TuNA paper, coalesced and staggered (its Algorithms 2 and 3); corrected and generalised to
// any placement of ranks in specification radix section 5. A radix exchange between nodes, and blocks that leave
// without waiting for the whole part inside the node, are Shoal's own.
//
// How: the blocks of node n for a rank d elsewhere meet at one rank of n, their carrier, which sends them on. The part
// inside the node is an exchange on the ring of its q ranks, in which the block from a to b is a bundle: the blocks
// from a to all ranks whose carrier is b. The part between nodes is an exchange on the ring of the N nodes, in which
// the blocks from node to node move between the carriers for their destination. So both are digit systems, together
// one on Z_q x Z_N; the linear exchange is the system of one digit. `local=shared` is `local=linear` whose messages go
// through the node's shared memory (execute/node_window.hpp).
//
// Cost per rank for N nodes of Q, with K and D of digits.hpp: K(Q) messages and N * D(Q) blocks inside the node, then
// K(N) messages (staggered: Q times as many) and Q * D(N) blocks between nodes; linear: K(n) = D(n) = n - 1. Uneven
// nodes: local rank g of a node of q sends ceil((P-g)/q) - 1 messages of q blocks between nodes (linear, coalesced),
// all ranks of the node together P * D(q) blocks inside it. Scratch: at most (N-1)(Q-1) + B(Q) blocks, B the slot_bound
// of digits.hpp; uneven: (q-1)(ceil(P/q)-1) + B(q). With global=radix the larger of B(Q) and B(N). With c < q carriers
// a carrier sends K(N) messages and the others none, of q/c times as many blocks, which it hands on in q/c - 1
// messages; its scratch grows as much.
//
// Applies: any number of ranks, any placement, uniform or not.
#include <algorithm>
#include <unordered_map>
#include <utility>

#include "algorithms/batches.hpp"
#include "algorithms/digits.hpp"
#include "algorithms/families.hpp"
#include "topology/node_layout.hpp"

namespace shoal {

namespace {

// Who exchanges with other nodes: the first ranks of each node, `most` of them at most.
struct carriers {
  const node_layout& nodes;
  int most;

  int of_node(int node) const { return std::min(most, nodes.size_of(node)); }
  // Through which blocks for this destination leave this node or pass it, or arrive where it is theirs.
  int carrier(int node, int destination) const {
    const bool arrives = nodes.node_of(destination) == node;
    const int number = arrives ? nodes.local_of(destination) : nodes.virtual_rank(destination);
    return nodes.ranks_of(node)[number % of_node(node)];
  }
};

// A ring names, for each of its positions, the ranks whose blocks start there (`origins`), the final destinations of
// the blocks that leave the ring there and come through this rank (`for_each_destination`), and the rank through which
// blocks for a destination pass there (`relay`).

// The ranks of one node.
struct ring_of_ranks {
  const node_layout& nodes;
  carriers carrying;
  int node;
  int position;

  int size() const { return nodes.size_of(node); }
  std::span<const int> origins(int at) const { return nodes.ranks_of(node).subspan(at, 1); }
  int relay(int at, int) const { return nodes.ranks_of(node)[at]; }

  // The bundle of the rank at this position: of its own node just itself, and where it is one of c carriers every c-th
  // of all ranks elsewhere, by virtual rank.
  template <typename Visit>
  void for_each_destination(int at, Visit visit) const {
    const int self = nodes.ranks_of(node)[at], stride = carrying.of_node(node);
    if (at >= stride) return visit(self);
    bool own = false;
    for (int v = at; v < nodes.ranks(); v += stride) {
      const int destination = nodes.rank_at(v);
      if (nodes.node_of(destination) != node) visit(destination);
      else if (!std::exchange(own, true)) visit(self);
    }
  }
};

// The nodes, as the rank at place `local` of node `position` takes part in their exchange.
struct ring_of_nodes {
  const node_layout& nodes;
  carriers carrying;
  int position;
  int local;

  int size() const { return nodes.nodes(); }
  std::span<const int> origins(int at) const { return nodes.ranks_of(at); }
  int relay(int at, int destination) const { return carrying.carrier(at, destination); }

  // The ranks of a node that this rank is the carrier for.
  template <typename Visit>
  void for_each_destination(int at, Visit visit) const {
    const int stride = carrying.of_node(position);
    if (local >= stride) return;
    const int first = nodes.first_virtual(at), end = first + nodes.size_of(at);
    const int nearest = at == position ? local : modulo(local - first, stride);
    for (int v = first + nearest; v < end; v += stride) visit(nodes.rank_at(v));
  }
};

// Where a rank has the blocks that it sends: its own in the user's buffer, those of others in scratch.
class carried_blocks {
 public:
  explicit carried_blocks(builder& b) : b_(b) {}

  slot take(int origin, int destination) {
    if (origin == b_.rank()) return send_slot(destination);
    return held_.extract(key(origin, destination)).mapped();
  }
  slot put(int origin, int destination) {
    if (destination == b_.rank()) return recv_slot(origin);
    return held_[key(origin, destination)] = b_.new_temp();
  }

 private:
  static std::int64_t key(int origin, int destination) { return (std::int64_t{origin} << 32) | destination; }

  builder& b_;
  std::unordered_map<std::int64_t, slot> held_;
};

// The messages between this rank and the ranks of one node that belong together.
class message_set {
 public:
  explicit message_set(const node_layout& nodes) : nodes_(nodes), number_of_(nodes.largest_node(), -1) {}

  std::vector<slot>& with(int peer) {
    int& number = number_of_[nodes_.local_of(peer)];
    if (number < 0) {
      number = static_cast<int>(messages_.size());
      messages_.push_back({peer, {}});
    }
    return messages_[number].blocks;
  }

  template <typename Visit>
  void drain(Visit visit) {
    for (const message& m : messages_) {
      visit(m.peer, m.blocks);
      number_of_[nodes_.local_of(m.peer)] = -1;
    }
    messages_.clear();
  }

 private:
  struct message {
    int peer;
    std::vector<slot> blocks;
  };

  const node_layout& nodes_;
  std::vector<int> number_of_;  // by place of the peer in its node; -1: no message so far
  std::vector<message> messages_;
};

// How a part of the exchange runs.
struct manner {
  bool linear;      // the digit system of one digit, in batches; else in rounds
  int radix;        // if not linear
  int block_count;  // requests in a batch, if linear
  int direction;    // +1: blocks travel to higher positions, -1: to lower ones
  int pieces;       // 1: one message with the blocks of all origins; else one for each, of at most this many
};

// One part of the exchange: a walk over the digits of the way between positions.
template <typename Ring>
class ring_exchange {
 public:
  ring_exchange(builder& b, carried_blocks& carried, const Ring& ring, const manner& how)
      : b_(b),
        carried_(carried),
        ring_(ring),
        how_(how),
        system_(ring.size(), how.linear ? std::max(2, ring.size()) : how.radix),
        messages_(ring.nodes) {}

  std::int64_t steps() const { return system_.steps(); }

  // Returns the number of the step after its last.
  int run(window& order, int first_step) {
    if (!how_.linear) return run_rounds(order, first_step);
    const int requests = static_cast<int>(system_.steps()) * how_.pieces;
    in_batches(
        b_, order, {requests, how_.block_count, first_step},
        [&](int k) { receive(0, k / how_.pieces + 1, k % how_.pieces, order); },
        [&](int k) { send(0, k / how_.pieces + 1, k % how_.pieces, order); });
    return first_step + (requests + how_.block_count - 1) / how_.block_count;
  }

 private:
  // As in a flat radix exchange, sends come first: they make room for what the step brings.
  int run_rounds(window& order, int number) {
    for (int x = 0; x < system_.digits(); ++x)
      for (int z = 1; z <= system_.steps_of_digit(x); ++z) {
        order.join(b_);
        b_.step(number++);
        for (int piece = 0; piece < how_.pieces; ++piece) send(x, z, piece, order);
        for (int piece = 0; piece < how_.pieces; ++piece) receive(x, z, piece, order);
        order.next_group();
      }
    return number;
  }

  void send(int x, int z, int piece, window& order) {
    const int to = position(z * system_.weight(x));
    for_each_block(x, z, piece, system_.weight(x), [&](int origin, int destination) {
      const int peer = ring_.relay(to, destination);
      const slot block = carried_.take(origin, destination);
      messages_.with(peer).push_back(destination == peer ? block : passing(block));
    });
    messages_.drain([&](int peer, const auto& blocks) { order.add(b_.send(peer, blocks, order.before())); });
  }

  void receive(int x, int z, int piece, window& order) {
    const int from = position(-z * system_.weight(x));
    for_each_block(x, z, piece, system_.weight(x + 1), [&](int origin, int destination) {
      messages_.with(ring_.relay(from, destination)).push_back(carried_.put(origin, destination));
    });
    messages_.drain([&](int peer, const auto& blocks) { order.add(b_.recv(peer, blocks, order.before())); });
  }

  // The blocks of step (x, z) that are here when i mod `weight` of their way i lies behind them.
  template <typename Visit>
  void for_each_block(int x, int z, int piece, std::int64_t weight, Visit visit) const {
    system_.for_each_offset(x, z, [&](std::int64_t i) {
      const auto origins = piece_of(ring_.origins(position(-(i % weight))), piece);
      if (origins.empty()) return;
      ring_.for_each_destination(position(i - i % weight), [&](int destination) {
        for (int origin : origins) visit(origin, destination);
      });
    });
  }

  std::span<const int> piece_of(std::span<const int> origins, int piece) const {
    if (how_.pieces == 1) return origins;
    return piece < static_cast<int>(origins.size()) ? origins.subspan(piece, 1) : origins.first(0);
  }

  // The position that blocks from here reach after this distance.
  int position(std::int64_t distance) const { return modulo(ring_.position + how_.direction * distance, ring_.size()); }

  builder& b_;
  carried_blocks& carried_;
  Ring ring_;
  manner how_;
  digit_system system_;
  message_set messages_;
};

// Blocks that arrived at a carrier go on to the ranks of its node that are none, each in one message.
void hand_on(builder& b, carried_blocks& carried, const carriers& carrying, std::span<const op_id> after) {
  const node_layout& nodes = carrying.nodes;
  if (nodes.nodes() == 1) return;
  const int node = nodes.node_of(b.rank()), place = nodes.local_of(b.rank()), stride = carrying.of_node(node);
  const auto blocks_for = [&](auto slot_of) {
    std::vector<slot> blocks;
    for (int v = 0; v < nodes.ranks(); ++v)
      if (const int origin = nodes.rank_at(v); nodes.node_of(origin) != node) blocks.push_back(slot_of(origin));
    return blocks;
  };
  if (place >= stride) {
    const auto blocks = blocks_for([&](int origin) { return carried.put(origin, b.rank()); });
    b.recv(nodes.ranks_of(node)[place % stride], blocks, after);
  }
  for (int at = place + stride; place < stride && at < nodes.size_of(node); at += stride) {
    const int peer = nodes.ranks_of(node)[at];
    b.send(peer, blocks_for([&](int origin) { return carried.take(origin, peer); }), after);
  }
}

schedule hierarchical(const carriers& carrying, int rank, const manner& local, const manner& global, bool overlap) {
  const node_layout& nodes = carrying.nodes;
  builder b(nodes.ranks(), rank);
  b.copy(send_slot(rank), recv_slot(rank));
  carried_blocks carried(b);
  const int node = nodes.node_of(rank), place = nodes.local_of(rank);
  ring_exchange inside(b, carried, ring_of_ranks{nodes, carrying, node, place}, local);
  ring_exchange between(b, carried, ring_of_nodes{nodes, carrying, node, place}, global);
  const auto width = [&](const auto& part) { return overlap ? static_cast<int>(part.steps()) + 1 : 1; };
  window order_inside(width(inside)), order_between(global.linear ? 1 : width(between));
  inside.run(order_inside, 0);
  const int largest = nodes.largest_node();
  const int rounds = static_cast<int>(local.linear ? largest > 1 : digit_system(largest, local.radix).steps());
  window& order = overlap ? order_between : order_inside;
  b.step(between.run(order, rounds));
  hand_on(b, carried, carrying, overlap ? std::span<const op_id>() : order.before());
  return b.finish();
}

schedule generate_hierarchical(const problem& at, int rank, const arguments& with) {
  std::optional<node_layout> single;
  if (!at.nodes) single = node_layout::one_rank_per_node(at.ranks);
  const node_layout& nodes = at.nodes ? *at.nodes : *single;
  const std::string& global = with.word("global");
  // Both parts go the way of the flat exchange between nodes; scattered downwards, as MPICH's and the paper's.
  const int direction = global == "scattered" ? -1 : +1;
  const int block_count = global == "pairwise" ? 1 : with.number("block_count", all_requests);
  const int pieces = with.word("pattern") == "staggered" ? nodes.largest_node() : 1;
  const int local_radix = with.number("radix", square_radix(nodes.largest_node()));
  const int global_radix = with.number("global_radix", square_radix(nodes.nodes()));
  const std::string& local = with.word("local");
  const carriers carrying{nodes, with.number("carriers", nodes.largest_node())};
  schedule program =
      hierarchical(carrying, rank, {local != "radix", local_radix, all_requests, direction, 1},
                   {global != "radix", global_radix, block_count, direction, pieces}, with.word("overlap") == "on");
  program.shared_memory = local == "shared";
  return program;
}

std::optional<std::string> refuses_layout(const problem& at, const arguments&) {
  if (!at.nodes || at.nodes->ranks() == at.ranks) return std::nullopt;
  return "the node layout has " + std::to_string(at.nodes->ranks()) + " ranks";
}

}  // namespace

std::vector<algorithm> hierarchical_family() {
  algorithm a;
  a.name = "hierarchical";
  a.summary = "inside the nodes, then between them: TuNA_l^g, coalesced (standard) or pattern=staggered, any placement";
  a.source =
      "Configurable Non-uniform All-to-all Algorithms (TuNA_l^g coalesced and staggered; overlap=off: as published)";
  a.parameters = {
      {"local",
       "exchange inside a node; shared: linear, through its shared memory",
       "radix",
       {"radix", "linear", "shared"}},
      {"radix",
       "base of the digits inside a node; auto: the square root of its ranks",
       "auto",
       {"auto"},
       2,
       all_requests},
      {"global", "exchange between nodes", "scattered", {"scattered", "radix", "pairwise"}},
      {"global_radix",
       "base of the digits for global=radix; auto: the square root of the nodes",
       "auto",
       {"auto"},
       2,
       all_requests},
      block_count_parameter(),
      {"pattern",
       "coalesced sends the blocks of a node for one rank in one message, staggered one by one",
       "coalesced",
       {"coalesced", "staggered"}},
      {"carriers",
       "ranks of a node that exchange with other nodes; fewer send fewer messages, of more blocks",
       "all",
       {"all"},
       1,
       all_requests},
      {"overlap",
       "on: blocks leave the node as soon as they can; off: rounds, then batches, as published",
       "on",
       {"on", "off"}},
  };
  a.refuses = refuses_layout;
  a.generate = generate_hierarchical;
  return {a};
}

}  // namespace shoal
