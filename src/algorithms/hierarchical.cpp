// Hierarchical exchange: level by level, from the inside out, each level by a flat exchange that can be chosen for it.
//
// Source: TuNA_l^g of the TuNA paper, coalesced and staggered (its Algorithms 2 and 3). It has two levels, inside the
// nodes and between them. Shoal corrects it and generalises it to any placement of ranks (docs/papers/tuna.md). Any
// number of levels, a radix exchange at each, and blocks that go on without waiting for a whole level are Shoal's own.
//
// How (docs/decisions/0003 and 0006): at each level the members of a group form a ring, and exchange the blocks that
// their ranks have for each other and for the rest of the world. So the exchange is composed of flat exchanges. It is
// one radix exchange as well: on an equal tree of n_0, n_1, ... members the place of a rank is a point of
// Z_n0 x Z_n1 x ..., and a block travels its offset one coordinate after another. So the radices of all levels in a row
// are a mixed system without carry between levels. A linear exchange is the system of one digit. `shared` is `linear`
// with messages that go through the node's memory inside a node (transport/node_window.hpp). `none` leaves a level out:
// the members of its groups then become members of the groups around these.
//
// Cost per rank on an equal tree of P ranks, with K and D of digits.hpp: K(n_l) messages and P/n_l * D(n_l) blocks at
// level l; in a linear level K(n) = D(n) = n - 1. If the outermost level is staggered, its messages are multiplied by
// the ranks of a member.
// Uneven trees: between the members of the outermost level (linear, coalesced) rank g of q sends ceil((P-g)/q) - 1
// messages of q blocks; the ranks of a group of q at level 0 together send D(q) blocks for each of the P destinations.
// Carriers: if a group of q has c carriers, a carrier sends what q/c ranks would send, in as many messages as one rank,
// and the other ranks send nothing. A carrier hands on what it gets for others in q/c - 1 messages.
// Scratch: at most (S_l - 1)(P/S_l - 1) blocks after level l, with S_l = n_0 * ... * n_l, and the S_(l-1) * B(n_l)
// blocks that pass through in the exchange of the level, with B the slot_bound of digits.hpp. With carriers q/c times
// as much.
//
// Applies: any number of ranks, any placement, uniform or not.
#include <algorithm>
#include <climits>
#include <cmath>
#include <unordered_map>
#include <utility>

#include "algorithms/batches.hpp"
#include "algorithms/digits.hpp"
#include "algorithms/families.hpp"
#include "algorithms/level_ring.hpp"
#include "algorithms/waves.hpp"

namespace shoal {

namespace {

// Where a rank has the blocks that it sends: its own in the user's buffer, those of others in scratch memory.
class carried_blocks {
 public:
  explicit carried_blocks(builder& b) : b_(b) {}

  // The slot of a block that is to go into a message to this peer.
  slot take(int origin, int destination, int peer) {
    const bool own = origin == b_.rank();
    const slot block = own ? send_slot(destination) : held_.extract(key(origin, destination)).mapped();
    return destination == peer ? block : passing(block);
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

// Messages that belong together, at most one with each peer, in the order in which they were begun.
class message_set {
 public:
  std::vector<slot>& with(int peer) {
    const auto [found, added] = number_of_.try_emplace(peer, messages_.size());
    if (added) messages_.push_back({peer, {}});
    return messages_[found->second].blocks;
  }

  template <typename Visit>
  void drain(Visit visit) {
    for (const message& m : messages_) visit(m.peer, m.blocks);
    number_of_.clear();
    messages_.clear();
  }

 private:
  struct message {
    int peer;
    std::vector<slot> blocks;
  };

  std::unordered_map<int, std::size_t> number_of_;
  std::vector<message> messages_;
};

// Posts messages. In shared memory the messages between two ranks match in the order in which they are started
// (decision 4). So there a message waits for the message before it, unless that one waits for nothing itself.
class post {
 public:
  // `sharing`: the ranks with which this rank exchanges messages through memory.
  post(builder& b, std::span<const int> sharing) : b_(b) {
    for (const int rank : sharing) last_sent_[rank] = last_received_[rank] = -1;
  }

  void send(int peer, std::span<const slot> blocks, window& order) {
    in_order(last_sent_, peer, order, [&](auto after) { return b_.send(peer, blocks, after); });
  }
  void receive(int peer, std::span<const slot> blocks, window& order) {
    in_order(last_received_, peer, order, [&](auto after) { return b_.recv(peer, blocks, after); });
  }

 private:
  template <typename Add>
  void in_order(std::unordered_map<int, op_id>& last, int peer, window& order, Add add) {
    const auto before = last.find(peer);
    std::vector<op_id> after(order.before().begin(), order.before().end());
    if (before != last.end() && before->second >= 0) after.push_back(before->second);
    const op_id id = add(std::span<const op_id>(after));
    order.add(id);
    if (before != last.end() && b_.waits(id)) before->second = id;
  }

  builder& b_;
  // By peer that shares memory with this rank: its last message that waits for something; -1: no message waits.
  std::unordered_map<int, op_id> last_sent_, last_received_;
};

// How the exchange of a level runs.
struct level_exchange {
  int most_members;  // of the groups of the level
  bool linear;       // one digit, in batches; else digits of `radix`, in rounds
  int radix;         // if not linear
  int block_count;   // requests in a batch, if linear
  int direction;     // +1: blocks travel to higher positions, -1: to lower ones
  int pieces;        // 1: one message has the blocks of all origins; else each origin has its own, at most this many

  digit_system digits_of(int members) const { return {members, linear ? std::max(2, members) : radix}; }
  std::int64_t messages() const { return digits_of(most_members).steps() * pieces; }
  int steps() const {
    const std::int64_t batches = (messages() + block_count - 1) / block_count;
    return static_cast<int>(linear ? batches : digits_of(most_members).steps());
  }
};

// The exchange of a level: a walk over the digits of the distance between positions on the ring.
class ring_exchange {
 public:
  ring_exchange(builder& b, post& mail, carried_blocks& carried, const level_ring& around,
                const level_exchange& exchange)
      : b_(b),
        mail_(mail),
        carried_(carried),
        ring_(around),
        exchange_(exchange),
        system_(exchange.digits_of(around.size())) {}

  void run(window& order, int first_step) {
    if (!exchange_.linear) return run_rounds(order, first_step);
    in_batches(
        b_, order, {static_cast<int>(system_.steps()) * exchange_.pieces, exchange_.block_count, first_step},
        [&](int k) { receive(0, k / exchange_.pieces + 1, k % exchange_.pieces, order); },
        [&](int k) { send(0, k / exchange_.pieces + 1, k % exchange_.pieces, order); });
  }

 private:
  // As in a flat radix exchange, sends come before receives: they make room for the blocks that the step brings.
  void run_rounds(window& order, int number) {
    for (int x = 0; x < system_.digits(); ++x)
      for (int z = 1; z <= system_.steps_of_digit(x); ++z) {
        order.join(b_);
        b_.step(number++);
        for (int piece = 0; piece < exchange_.pieces; ++piece) send(x, z, piece, order);
        for (int piece = 0; piece < exchange_.pieces; ++piece) receive(x, z, piece, order);
        order.next_group();
      }
  }

  void send(int x, int z, int piece, window& order) {
    const int to = position(z * system_.weight(x));
    for_each_bundle(x, z, piece, system_.weight(x), [&](std::span<const int> origins, const bound& of) {
      const int peer = ring_.relay(to, of.number);
      for (int origin : origins) messages_.with(peer).push_back(carried_.take(origin, of.destination, peer));
    });
    messages_.drain([&](int peer, const auto& blocks) { mail_.send(peer, blocks, order); });
  }

  void receive(int x, int z, int piece, window& order) {
    const int from = position(-z * system_.weight(x));
    for_each_bundle(x, z, piece, system_.weight(x + 1), [&](std::span<const int> origins, const bound& of) {
      const int peer = ring_.relay(from, of.number);
      for (int origin : origins) messages_.with(peer).push_back(carried_.put(origin, of.destination));
    });
    messages_.drain([&](int peer, const auto& blocks) { mail_.receive(peer, blocks, order); });
  }

  // Visits the blocks of step (x, z) that are at this position after i mod `weight` of their distance i. The blocks
  // that several origins have for one destination are visited together.
  template <typename Visit>
  void for_each_bundle(int x, int z, int piece, std::int64_t weight, Visit visit) const {
    system_.for_each_offset(x, z, [&](std::int64_t i) {
      const auto origins = piece_of(ring_.origins(position(-(i % weight))), piece);
      if (origins.empty()) return;
      for (const bound& of : ring_.ending_in(position(i - i % weight))) visit(origins, of);
    });
  }

  std::span<const int> piece_of(std::span<const int> origins, int piece) const {
    if (exchange_.pieces == 1) return origins;
    return piece < static_cast<int>(origins.size()) ? origins.subspan(piece, 1) : origins.first(0);
  }

  // The position that blocks from here reach after this distance.
  int position(std::int64_t distance) const {
    return modulo(ring_.position() + exchange_.direction * distance, ring_.size());
  }

  builder& b_;
  post& mail_;
  carried_blocks& carried_;
  const level_ring& ring_;
  const level_exchange& exchange_;
  digit_system system_;
  message_set messages_;
};

// Blocks that arrived at the carriers of a group of this height go on to the carriers of the group's members.
void hand_on(builder& b, post& mail, carried_blocks& carried, const block_places& who, int height, window& order) {
  const layout_tree& levels = who.levels;
  const int self = levels.virtual_rank(b.rank());
  const virtual_range group = who.group(height, self);
  message_set leaving, arriving;
  for (int v = group.first; v < group.first + group.size; ++v) {
    const virtual_range member = who.group(height - 1, v);
    const int here = who.rank_of(group, height, (v - group.first) % who.carriers(height, group));
    const int next = who.rank_of(member, height - 1, (v - member.first) % who.carriers(height - 1, member));
    if (here == next || (here != self && next != self)) continue;
    const int destination = levels.rank_at(v), peer = levels.rank_at(here == self ? next : here);
    for (int from = 0; from < levels.ranks(); ++from) {
      if (group.holds(from)) continue;
      const int origin = levels.rank_at(from);
      if (here == self) leaving.with(peer).push_back(carried.take(origin, destination, peer));
      else arriving.with(peer).push_back(carried.put(origin, destination));
    }
  }
  arriving.drain([&](int peer, const auto& blocks) { mail.receive(peer, blocks, order); });
  leaving.drain([&](int peer, const auto& blocks) { mail.send(peer, blocks, order); });
  order.next_group();
}

schedule hierarchical(const block_places& who, int rank, const std::vector<level_exchange>& exchanges, bool shared,
                      bool overlap) {
  const layout_tree& levels = who.levels;
  const int self = levels.virtual_rank(rank), outermost = static_cast<int>(exchanges.size()) - 1;
  builder b(levels.ranks(), rank);
  b.copy(send_slot(rank), recv_slot(rank));
  carried_blocks carried(b);
  post mail(b, shared ? levels.ranks_of(levels.group(levels.node_level(), self)) : std::span<const int>());
  window rounds(1);
  int step = 0;
  for (int level = 0; level <= outermost; ++level) {
    const level_ring around(who, level, self);
    window own(exchanges[level].linear ? 1 : static_cast<int>(exchanges[level].digits_of(around.size()).steps()) + 1);
    ring_exchange(b, mail, carried, around, exchanges[level]).run(overlap ? own : rounds, step);
    step += exchanges[level].steps();
  }
  for (int height = outermost; height > 0; --height) {
    window own(1);
    b.step(step++);
    hand_on(b, mail, carried, who, height, overlap ? own : rounds);
  }
  schedule program = b.finish();
  program.shared_memory = shared;
  return program;
}

std::shared_ptr<const layout_tree> levels_of(const problem& at) {
  if (at.levels) return at.levels;
  return std::make_shared<const layout_tree>(at.nodes ? *at.nodes : node_layout::one_rank_per_node(at.ranks));
}

std::string_view way_of(const layout_tree& levels, int level, const arguments& with) {
  return level == levels.levels() - 1 ? std::string_view(with.word("global")) : with.word_at(level, "local");
}

// The exchange of a level whose members have this height.
level_exchange level_exchange_of(const layout_tree& levels, int height, int level, const arguments& with) {
  const bool outermost = level == levels.levels() - 1;
  const std::string_view way = way_of(levels, level, with);
  const int batch = way == "scattered" ? with.number_at(level, "block_count", all_requests) : all_requests;
  level_exchange exchange;
  exchange.most_members = levels.most_members(height, level + 1);
  const int square = square_radix(exchange.most_members);
  exchange.linear = way != "radix";
  exchange.radix = outermost ? with.number("global_radix", square) : with.number_at(level, "radix", square);
  exchange.block_count = way == "pairwise" ? 1 : batch;
  // All levels take the direction of the outermost flat exchange: `scattered` goes down, as in MPICH and the paper.
  exchange.direction = with.word("global") == "scattered" ? -1 : +1;
  exchange.pieces = outermost && with.word("pattern") == "staggered" ? levels.largest_group(height) : 1;
  return exchange;
}

// The levels that are not left out, and their exchanges.
struct used_levels {
  block_places who;
  std::vector<level_exchange> exchanges;
  bool shared = false;  // messages inside a node go through its memory
};

used_levels used_levels_of(const layout_tree& levels, const arguments& with) {
  used_levels used{{levels, {0}, {1}}, {}};
  for (int level = 0; level < levels.levels(); ++level) {
    const std::string_view way = way_of(levels, level, with);
    if (way == "none") continue;
    used.exchanges.push_back(level_exchange_of(levels, used.who.heights.back(), level, with));
    used.who.heights.push_back(level + 1);
    used.who.most.push_back(with.number_at(level, "carriers", all_requests));
    used.shared = used.shared || way == "shared";
  }
  return used;
}

schedule generate_hierarchical(const problem& at, int rank, const arguments& with) {
  const auto levels = levels_of(at);
  const used_levels used = used_levels_of(*levels, with);
  return hierarchical(used.who, rank, used.exchanges, used.shared, with.word("overlap") == "on");
}

// Messages are numbered as if all members of the outermost level were as large as the largest. If one member has most
// ranks and there are many others, these are more numbers than an int has.
std::optional<std::string> refuses_staggered(const problem& at, const arguments& with) {
  constexpr std::int64_t most_messages = 1 << 30;
  const std::int64_t messages = used_levels_of(*levels_of(at), with).exchanges.back().messages();
  if (messages <= most_messages) return std::nullopt;
  return "pattern=staggered would number " + std::to_string(messages) + " messages, and can number " +
         std::to_string(most_messages);
}

std::optional<std::string> refuses_layout(const problem& at, const arguments& with) {
  if (!at.nodes && !at.levels) return std::nullopt;
  const int ranks = at.levels ? at.levels->ranks() : at.nodes->ranks(), levels = at.levels ? at.levels->levels() : 2;
  if (ranks != at.ranks) return "the node layout has " + std::to_string(ranks) + " ranks";
  for (const char* name : {"local", "radix", "carriers", "block_count"}) {
    const int those = levels - (std::string_view(name) != "block_count");
    if (with.levels(name) > those)
      return std::string(name) + " has values for " + std::to_string(with.levels(name)) +
             " levels, of which the layout has " + std::to_string(those) +
             (those < levels ? " below the outermost" : "");
  }
  return with.word("pattern") == "staggered" ? refuses_staggered(at, with) : std::nullopt;
}

// The rings of the levels, if every rank does the same, coordinate by coordinate: if groups are equal, ranks are in
// order and all ranks are carriers.
std::optional<std::vector<int>> around_equal_levels(const problem& at, const arguments& with) {
  const auto levels = levels_of(at);
  std::vector<int> members;
  int ranks = 1, around = 1;  // `around`: the members of a ring, also over levels that are left out
  for (int l = 0; l < levels->levels(); ++l) {
    around *= levels->most_members(l, l + 1);
    if (l + 1 < levels->levels() && with.word_at(l, "local") == "none") continue;
    ranks *= members.emplace_back(std::exchange(around, 1));
  }
  for (int v = 0; v < at.ranks; ++v)
    if (levels->rank_at(v) != v) return std::nullopt;
  const bool everyone = with.word("carriers") == "all";
  return everyone && ranks == at.ranks ? std::optional(members) : std::nullopt;
}

// ---- cost of two levels with all ranks as carriers, and where the algorithm is worth trying ---------------------

// The exchange among the ranks of a node. Each of its blocks stands for one block for each node.
std::vector<wave> waves_inside(const equal_nodes& at, const arguments& with) {
  if (at.per_node == 1) return {};
  const bool digits = with.word("local") == "radix";
  const int radix = digits ? with.number_at(0, "radix", square_radix(at.per_node)) : at.per_node;
  auto all = digit_waves({at.per_node, radix}, {1, at.per_node}, at.in_rounds ? 1 : at.per_node);
  for (wave& one : all) one = {one.messages(), one.local * at.nodes, 0, 0, one.messages()};
  return all;
}

// The exchange among the nodes, by each rank for itself. Each block of it stands for one from each rank of a node.
std::vector<wave> waves_between(const equal_nodes& at, const arguments& with) {
  const double pieces = with.word("pattern") == "staggered" ? at.per_node : 1;
  if (with.word("global") == "radix") {
    const int radix = with.number("global_radix", square_radix(at.nodes));
    auto all = digit_waves({at.nodes, radix}, {at.nodes, 1}, at.nodes);
    for (wave& one : all) one = {0, 0, one.messages() * pieces, one.crossing * at.per_node, one.announced * pieces};
    return all;
  }
  const double messages = (at.nodes - 1) * pieces;
  const double batch = with.word("global") == "pairwise" ? 1 : with.number_at(1, "block_count", INT_MAX);
  const double count = std::ceil(messages / batch);
  return std::vector<wave>(static_cast<std::size_t>(count),
                           {0, 0, messages / count, (at.nodes - 1.0) * at.per_node / count, 0});
}

std::optional<std::vector<wave>> two_level_waves(const equal_nodes& at, const arguments& with) {
  const std::string& local = with.word("local");
  if (with.word("carriers") != "all" || (local != "radix" && local != "linear" && local != "shared")) return {};
  std::vector<wave> all = waves_inside(at, with), outside = waves_between(at, with);
  all.insert(all.end(), outside.begin(), outside.end());
  return all;
}

bool on_nodes_of_several(const problem& at) { return largest_node(at) > 1 && largest_node(at) < at.ranks; }

// One carrier for a node sends few messages, each with the blocks of many ranks. It is tried if a node has `many`
// ranks, and if its schedule, which names every block of the node, is made in a few milliseconds and takes a few MB.
std::vector<std::string> hierarchical_tried(const problem& at) {
  constexpr int many = 4;
  constexpr std::int64_t most_carried = 1 << 15;  // blocks: 6 ms and 2.6 MB; time and memory grow with their number
  if (!on_nodes_of_several(at)) return {};
  const bool small = std::int64_t{largest_node(at)} * at.ranks <= most_carried;
  if (largest_node(at) < many || !small) return {"hierarchical:local=shared"};
  return {"hierarchical:local=shared", "hierarchical:local=shared,carriers=1"};
}

std::vector<std::string> hierarchical_measured(const problem& at) {
  if (!on_nodes_of_several(at)) return {};
  return {"hierarchical", "hierarchical:radix=2", "hierarchical:local=shared", "hierarchical:carriers=1",
          "hierarchical:local=shared,carriers=1"};
}

parameter by_level(parameter p) {
  p.by_level = true;
  return p;
}

}  // namespace

std::vector<algorithm> hierarchical_family() {
  algorithm a;
  a.name = "hierarchical";
  a.summary =
      "inside the nodes, then between them: TuNA_l^g, coalesced (standard) or pattern=staggered; any number of levels, "
      "any placement";
  a.source =
      "Configurable Non-uniform All-to-all Algorithms (TuNA_l^g coalesced and staggered; overlap=off: as published)";
  a.parameters = {
      by_level(
          {"local",
           "exchange inside a node, and at every other level but the outermost; shared: linear, through the node's "
           "memory; none: the level is left out",
           "radix",
           {"radix", "linear", "shared", "scattered", "pairwise", "none"}}),
      by_level({"radix",
                "base of the digits for local=radix; auto: the square root of the members of a group",
                "auto",
                {"auto"},
                2,
                all_requests}),
      {"global", "exchange between nodes: of the outermost level", "scattered", {"scattered", "radix", "pairwise"}},
      {"global_radix",
       "base of the digits for global=radix; auto: the square root of the nodes",
       "auto",
       {"auto"},
       2,
       all_requests},
      by_level(block_count_parameter()),
      {"pattern",
       "coalesced: one message with all blocks of a node for one rank; staggered: one message for each block",
       "coalesced",
       {"coalesced", "staggered"}},
      by_level({"carriers",
                "ranks of a node that exchange with other nodes; fewer carriers send fewer and larger messages",
                "all",
                {"all"},
                1,
                all_requests}),
      {"overlap",
       "on: blocks leave the node as soon as they can; off: rounds, then batches, as published",
       "on",
       {"on", "off"}},
  };
  a.alike = around_equal_levels;
  a.refuses = refuses_layout;
  a.generate = generate_hierarchical;
  a.tried = hierarchical_tried;
  a.measured = hierarchical_measured;
  a.waves = two_level_waves;
  return {a};
}

}  // namespace shoal
