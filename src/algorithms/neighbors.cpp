// Exchanges among neighbours: a block for each edge of a graph (problem::neighbors).
//
// Source: `gathered` as in "Optimizing Irregular Communication with Neighborhood Collectives and Locality-Aware
// Parallelism" (Collom, Li, Bienz). MPI libraries send every block alone; `direct` does the same, but sends all blocks
// between two ranks in one message.
//
// How: a block takes three hops: from its origin to the rank of its node that carries for the destination's node, from
// there to the carrier of the destination's node, and on to the destination. All blocks that one rank has for another
// in one of these hops are one message. Blocks that stay inside a node travel in messages of the first hop. A message
// waits for nothing but the blocks that it carries.
//
// Cost of a rank, with n ranks on its node, of which c carry. direct: one message for each neighbour. gathered: inside
// the node at most n - 1 messages of the first hop and n - 1 of the third; between nodes M/c messages, where M is the
// number of other nodes on which ranks of this node have neighbours. A block crosses between nodes once.
//
// Applies: any graph, any placement, blocks of any sizes.
#include <algorithm>
#include <array>
#include <map>

#include "algorithms/batches.hpp"
#include "algorithms/digits.hpp"
#include "algorithms/families.hpp"
#include "schedule/neighbor_graph.hpp"
#include "topology/node_layout.hpp"

namespace shoal {

namespace {

// The ranks that have a block, one after another: origin, two carriers, destination.
using path = std::array<int, 4>;
constexpr int hops = 3;

// Who carries blocks from one node to another.
class carriers {
 public:
  carriers(const problem& at, int most)
      : nodes_(at.nodes ? *at.nodes : node_layout::one_rank_per_node(at.ranks)), most_(most) {}

  const node_layout& nodes() const { return nodes_; }
  path from(int origin, int destination) const {
    const int out = nodes_.node_of(origin), in = nodes_.node_of(destination);
    if (out == in) return {origin, destination, destination, destination};
    return {origin, of(out, in), of(in, out), destination};
  }

 private:
  // The carrier of `node` for blocks from and to the node `other`. The carriers take the other nodes in turn, so that
  // all carry alike.
  int of(int node, int other) const {
    const auto ranks = nodes_.ranks_of(node);
    const int carrying = std::min(most_, static_cast<int>(ranks.size()));
    return ranks[modulo(other - node, nodes_.nodes()) % carrying];
  }

  node_layout nodes_;
  int most_;
};

// The messages of one rank. Blocks are added to them in an order that is the same on all ranks.
class neighbor_messages {
 public:
  explicit neighbor_messages(builder& b) : b_(b) {}

  void add(const path& way, int edge, int arrival) {
    slot held = send_slot(edge);
    for (int hop = 0; hop < hops; ++hop) {
      const int from = way[hop], to = way[hop + 1];
      if (from == to) continue;
      const bool arrives = to == way.back();
      if (from == b_.rank()) at(sent_, hop, to).push_back(arrives ? held : passing(held));
      if (to == b_.rank()) at(received_, hop, from).push_back(held = arrives ? recv_slot(arrival) : b_.new_temp());
    }
    if (way.front() == b_.rank() && way.back() == b_.rank()) b_.copy(held, recv_slot(arrival));
  }

  // Posts for each hop the receives, then the sends, nearest ranks first, so that not all begin with the same rank.
  void post() {
    for (int hop = 0; hop < hops; ++hop) {
      b_.step(hop);
      for (const auto& [distance, blocks] : received_[hop]) b_.recv(modulo(b_.rank() - distance, b_.ranks()), blocks);
      for (const auto& [distance, blocks] : sent_[hop]) b_.send(modulo(b_.rank() + distance, b_.ranks()), blocks);
    }
  }

 private:
  using by_distance = std::map<int, std::vector<slot>>;

  std::vector<slot>& at(std::array<by_distance, hops>& messages, int hop, int peer) {
    const int ahead = &messages == &sent_ ? peer - b_.rank() : b_.rank() - peer;
    return messages[hop][modulo(ahead, b_.ranks())];
  }

  builder& b_;
  std::array<by_distance, hops> sent_, received_;
};

// Whether a block between these ranks may concern a rank of `node`: a quick test that rules out most blocks.
bool concerns(const node_layout& nodes, int node, int origin, int destination) {
  return nodes.node_of(origin) == node || nodes.node_of(destination) == node;
}

std::shared_ptr<const neighbor_graph> graph_of(const problem& at) {
  return at.neighbors ? at.neighbors : std::make_shared<const neighbor_graph>(neighbor_graph::complete(at.ranks));
}

schedule generate_over(const problem& at, int rank, const carriers& who) {
  const auto graph = graph_of(at);
  const int node = who.nodes().node_of(rank);
  builder b(at.ranks, rank);
  neighbor_messages messages(b);
  for (int origin = 0; origin < at.ranks; ++origin) {
    const auto destinations = graph->destinations(origin);
    for (int edge = 0; edge < static_cast<int>(destinations.size()); ++edge) {
      const int destination = destinations[edge];
      if (destination < 0 || !concerns(who.nodes(), node, origin, destination)) continue;
      messages.add(who.from(origin, destination), edge, graph->arrival_of(origin, edge));
    }
  }
  messages.post();
  schedule program = b.finish();
  program.among_neighbors = true;
  return program;
}

// If every rank is a node of its own, nobody carries blocks for others.
schedule generate_direct(const problem& at, int rank, const arguments& with) {
  problem apart = at;
  apart.nodes = nullptr;
  schedule program = generate_over(apart, rank, carriers(apart, all_requests));
  program.shared_memory = with.word("local") == "shared";
  return program;
}

schedule generate_gathered(const problem& at, int rank, const arguments& with) {
  schedule program = generate_over(at, rank, carriers(at, with.number("carriers", all_requests)));
  program.shared_memory = with.word("local") == "shared";
  return program;
}

std::optional<std::string> refuses_graph(const problem& at, const arguments&) {
  if (at.neighbors && at.neighbors->ranks() != at.ranks)
    return "the graph has " + std::to_string(at.neighbors->ranks()) + " ranks";
  if (at.nodes && at.nodes->ranks() != at.ranks)
    return "the node layout has " + std::to_string(at.nodes->ranks()) + " ranks";
  return std::nullopt;
}

std::vector<std::string> direct_tried(const problem&) { return {"direct"}; }

std::vector<std::string> gathered_tried(const problem& at) {
  const int largest = largest_node(at);
  return largest > 1 && largest < at.ranks ? std::vector<std::string>{"gathered"} : std::vector<std::string>{};
}

algorithm neighbor_entry(const char* name, const char* summary, const char* source,
                         schedule (*generate)(const problem&, int, const arguments&)) {
  algorithm a;
  a.name = name;
  a.what = collective::neighbor_alltoall;
  a.summary = summary;
  a.source = source;
  a.refuses = refuses_graph;
  a.generate = generate;
  return a;
}

}  // namespace

std::vector<algorithm> neighbors_family() {
  algorithm gathered =
      neighbor_entry("gathered", "one message for each pair of nodes that have neighbours on each other",
                     "node-aware neighbourhood collectives (Collom, Li, Bienz)", generate_gathered);
  algorithm direct = neighbor_entry("direct", "one message to each neighbour", "MPICH, Open MPI", generate_direct);
  const parameter local{"local",
                        "inside a node: through the memory that its ranks share, or by messages",
                        "shared",
                        {"shared", "messages"}};
  direct.parameters = {local};
  direct.tried = direct_tried;
  direct.turn = 1;
  gathered.parameters = {
      {"carriers", "ranks of a node that exchange with other nodes, in turn", "all", {"all"}, 1, all_requests}, local};
  gathered.tried = gathered_tried;
  return {direct, gathered};
}

}  // namespace shoal
