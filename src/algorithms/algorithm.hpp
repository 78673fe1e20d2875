// What an algorithm is: a name, parameters with their ranges, and a pure function that makes schedules.
// The table in registry.cpp lists them all; the command line, the documents and the parser read it.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "schedule/schedule.hpp"

namespace shoal {

class layout_tree;     // topology/layout_tree.hpp
class neighbor_graph;  // schedule/neighbor_graph.hpp
class node_layout;     // topology/node_layout.hpp
class switch_network;  // topology/switch_network.hpp

enum class collective { alltoall, allgather, neighbor_alltoall };
inline constexpr std::array collectives = {collective::alltoall, collective::allgather, collective::neighbor_alltoall};
constexpr const char* to_string(collective what) {
  constexpr std::array<const char*, collectives.size()> names = {"alltoall", "allgather", "neighbor_alltoall"};
  return names[static_cast<std::size_t>(what)];
}
// Throws std::invalid_argument naming all.
collective parse_collective(std::string_view name);

// What a generator may look at besides the rank. The same on every rank.
struct problem {
  int ranks = 1;
  int senders = 0;                                 // inter-group allgather: ranks 0..senders-1 send, the others receive
  std::shared_ptr<const node_layout> nodes;        // which rank is on which node; null: one rank per node
  std::shared_ptr<const layout_tree> levels;       // all levels of the machine; null: the nodes are the only ones
  std::shared_ptr<const switch_network> switches;  // the tree of switches, when one is given
  std::shared_ptr<const neighbor_graph> neighbors;  // who sends to whom; null: everyone to everyone
  // Bytes of every block, [from * ranks + to], for algorithms that look at them; null: unknown, or all are equal.
  std::shared_ptr<const std::vector<std::int64_t>> sizes;

  int receivers() const { return ranks - senders; }  // of an inter-group allgather
};

// The problem of ranks on these levels, and so on these nodes.
problem placed(layout_tree layout);
// Ranks on the node that has most: all, where there is one node.
int largest_node(const problem& at);

// One parameter: accepts the words listed, whole numbers lowest..highest, and, if `list`, such numbers
// joined by x (8x8x16). lowest > highest: no numbers. `by_level`: one of these for each level of the layout, the
// innermost first, joined by slashes (2/auto/8); the last holds for all further ones.
struct parameter {
  std::string name;
  std::string_view summary;
  std::string standard;  // the default, as written in a spec
  std::vector<std::string> words;
  int lowest = 1;
  int highest = 0;
  bool list = false;
  bool by_level = false;
};

// Values for the parameters of one algorithm, all valid.
class arguments {
 public:
  void set(const std::string& name, std::string value) { values_[name] = std::move(value); }
  const std::string& word(const std::string& name) const { return values_.at(name); }
  // The number, or `otherwise` when the value is a word ("auto", "all").
  int number(const std::string& name, int otherwise) const;
  std::vector<int> list(const std::string& name) const;
  // The same of a parameter by level, for one.
  std::string_view word_at(int level, const std::string& name) const;
  int number_at(int level, const std::string& name, int otherwise) const;
  int levels(const std::string& name) const;  // for how many it has values
  const std::map<std::string, std::string>& values() const { return values_; }
  bool operator==(const arguments&) const = default;

 private:
  std::map<std::string, std::string> values_;
};

// Nodes of as many consecutive ranks each, for which an exchange may be counted by a formula.
struct equal_nodes {
  int nodes = 1, per_node = 1;
  bool in_rounds = false;  // one step at a time, as in the papers' programs

  int ranks() const { return nodes * per_node; }
};

// What a rank sends, on average, in messages that are in flight together: inside its node, and to other nodes.
struct wave {
  double local_messages = 0, local = 0;        // blocks
  double crossing_messages = 0, crossing = 0;  // blocks
  double announced = 0;                        // messages with sizes, of all

  double messages() const { return local_messages + crossing_messages; }
};

// What an allgather between two groups costs. Volume is the sum over the steps of the largest transfer, in messages.
struct intergroup_cost {
  std::int64_t steps = 0;
  double volume = 0;
};

// A step whose largest transfer has n bytes takes startup + n * per_byte seconds.
struct link_cost {
  double startup = 0, per_byte = 0;
};

struct algorithm {
  std::string name;
  collective what = collective::alltoall;
  bool uniform_only = false;  // needs equal blocks
  std::string_view summary;
  std::string_view source;
  std::vector<parameter> parameters;
  // Why it cannot serve this problem, or nothing. May be null: always applicable.
  std::optional<std::string> (*refuses)(const problem&, const arguments&) = nullptr;
  // Whether it makes something of problem::sizes. May be null: never.
  bool (*looks_at_sizes)(const problem&, const arguments&) = nullptr;
  // Where the schedules of all ranks are the same but for their names: the members of the rings around which names are
  // moved on, from the inside out (see relabelling); else nothing. May be null: they never are.
  std::optional<std::vector<int>> (*alike)(const problem&, const arguments&) = nullptr;
  // The program of one rank. Null for `native`, which has no schedule. What it costs is counted from it (model/load.hpp).
  schedule (*generate)(const problem&, int rank, const arguments&) = nullptr;
  // Specs that jobs try on their own calls: few, for every trial costs. May be null: none.
  std::vector<std::string> (*tried)(const problem&) = nullptr;
  int turn = 0;  // the lower, the earlier jobs try them
  // Specs that `shoal tune` measures and `shoal explain` predicts. May be null: none, and defaults are predicted.
  std::vector<std::string> (*measured)(const problem&) = nullptr;
  // What it costs without making a schedule, for any number of ranks; nothing for parameters without a formula. May be
  // null: there is none.
  std::optional<std::vector<wave>> (*waves)(const equal_nodes&, const arguments&) = nullptr;

  // Of allgathers between two groups alone. What it costs where it serves.
  intergroup_cost (*cost)(const problem&, const arguments&) = nullptr;
  // The network that it is made for, as users write an example: a name, and behind a colon a value of its first parameter.
  // Empty: others are made for its networks.
  std::string network;
  // Specs to predict on the network of this name, for messages of so many bytes. May be null: none but that for `network`.
  std::vector<std::string> (*on_network)(const problem&, std::string_view name, double bytes,
                                         const link_cost&) = nullptr;
};

// An algorithm with its parameters: what a spec such as "tuna:radix=8,inflight=2" means.
struct selection {
  const algorithm* which = nullptr;
  arguments with;
  bool operator==(const selection&) const = default;
};

// All algorithms, in the order people should read them.
const std::vector<algorithm>& algorithms();
// Specs of those of the table that jobs try on such ranks, besides the MPI's own, in the order in which they do.
std::vector<std::string> worth_trying(collective what, const problem& at,
                                      std::span<const algorithm> table = algorithms());
// Specs for an all-to-all that `shoal tune` measures on such ranks, besides the MPI's own.
std::vector<std::string> worth_measuring(const problem& at, bool equal_blocks,
                                         std::span<const algorithm> table = algorithms());
// Null when there is none of that name.
const algorithm* find_algorithm(std::string_view name, collective what = collective::alltoall,
                                std::span<const algorithm> table = algorithms());

// Throws std::invalid_argument with the wrong value, what is allowed and an example.
selection parse_selection(std::string_view spec, collective what = collective::alltoall,
                          std::span<const algorithm> table = algorithms());
// The shortest spec with the same meaning: parameters at their defaults are left out.
std::string to_string(const selection& chosen);

// Throws std::invalid_argument when the algorithm refuses the problem.
schedule generate(const selection& chosen, const problem& at, int rank);
std::vector<schedule> generate_all(const selection& chosen, const problem& at);

}  // namespace shoal
