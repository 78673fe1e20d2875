// What an algorithm is: a name, parameters with their ranges, and a pure function that makes schedules.
// The table in registry.cpp lists all algorithms; the command line, the documents and the parser read the table.
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
// Throws std::invalid_argument, with the names of all collectives, if there is none of this name.
collective parse_collective(std::string_view name);

// What a generator may look at besides the rank. The same on every rank.
struct problem {
  int ranks = 1;
  int senders = 0;                                 // inter-group allgather: ranks 0..senders-1 send, the others receive
  std::shared_ptr<const node_layout> nodes;        // which rank is on which node; null: one rank per node
  std::shared_ptr<const layout_tree> levels;       // all levels of the machine; null: only the nodes are known
  std::shared_ptr<const switch_network> switches;  // the tree of switches; null: none is given
  std::shared_ptr<const neighbor_graph> neighbors;  // who sends to whom; null: everyone to everyone
  // Bytes of every block, [from * ranks + to], for algorithms that look at sizes. Null: the sizes are unknown, or all
  // blocks are equal.
  std::shared_ptr<const std::vector<std::int64_t>> sizes;

  int receivers() const { return ranks - senders; }  // of an inter-group allgather
};

// The problem for the ranks of a layout, with its levels and its nodes.
problem placed(layout_tree layout);
// How many ranks the largest node has: all ranks if there is only one node.
int largest_node(const problem& at);

// One parameter. It accepts the words listed, whole numbers lowest..highest (no numbers if lowest > highest) and, if
// `list`, such numbers joined by x (8x8x16). If `by_level`, it accepts one of these values for each level of the
// layout, joined by slashes, the innermost level first (2/auto/8); the last value holds for all further levels.
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
  // The number, or `otherwise` if the value is a word ("auto", "all").
  int number(const std::string& name, int otherwise) const;
  std::vector<int> list(const std::string& name) const;
  // The word, and the number, for one level of a parameter with `by_level`.
  std::string_view word_at(int level, const std::string& name) const;
  int number_at(int level, const std::string& name, int otherwise) const;
  int levels(const std::string& name) const;  // for how many levels there are values
  const std::map<std::string, std::string>& values() const { return values_; }
  bool operator==(const arguments&) const = default;

 private:
  std::map<std::string, std::string> values_;
};

// Nodes that have the same number of consecutive ranks each: on these, formulas can count what an exchange sends.
struct equal_nodes {
  int nodes = 1, per_node = 1;
  bool in_rounds = false;  // one step at a time, as in the papers' programs

  int ranks() const { return nodes * per_node; }
};

// What a rank sends, on average, in messages that are in flight together.
struct wave {
  double local_messages = 0, local = 0;        // inside the node: messages, and the blocks in them
  double crossing_messages = 0, crossing = 0;  // to other nodes: messages, and the blocks in them
  double announced = 0;                        // how many of all these messages have sizes sent with them

  double messages() const { return local_messages + crossing_messages; }
};

// What an allgather between two groups costs. `volume` adds up the largest transfer of each step, in messages.
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
  // Why the algorithm cannot serve this problem, or nothing. May be null: it can serve every problem.
  std::optional<std::string> (*refuses)(const problem&, const arguments&) = nullptr;
  // Whether the algorithm makes use of problem::sizes. May be null: never.
  bool (*looks_at_sizes)(const problem&, const arguments&) = nullptr;
  // If the schedules of all ranks differ only in the names of ranks: how many members the rings have around which
  // relabelling moves the names, from the inside out. Else nothing. May be null: the schedules always differ in more.
  std::optional<std::vector<int>> (*alike)(const problem&, const arguments&) = nullptr;
  // Makes the schedule of one rank. model/load.hpp counts in it what the algorithm costs. Null for `native`, which has
  // no schedule.
  schedule (*generate)(const problem&, int rank, const arguments&) = nullptr;
  // Specs that jobs try on their own calls: few, because every trial costs time. May be null: none.
  std::vector<std::string> (*tried)(const problem&) = nullptr;
  int turn = 0;  // the lower, the earlier jobs try these specs
  // Specs that `shoal tune` measures and `shoal explain` predicts. May be null: `shoal tune` measures none, and
  // `shoal explain` predicts the algorithm with its defaults.
  std::vector<std::string> (*measured)(const problem&) = nullptr;
  // What the algorithm costs by a formula, without a schedule, for any number of ranks. Nothing if there is no formula
  // for these arguments. May be null: there is no formula at all.
  std::optional<std::vector<wave>> (*waves)(const equal_nodes&, const arguments&) = nullptr;

  // The rest is only for allgathers between two groups. What the algorithm costs on a problem that it does not refuse.
  intergroup_cost (*cost)(const problem&, const arguments&) = nullptr;
  // The network for which the algorithm is made, as an example of what users write: a name and, if the network has one,
  // a colon and a value of the algorithm's first parameter. Empty: other algorithms are made for the networks that this
  // one serves.
  std::string network;
  // Specs to predict on the network of this name, for messages of `bytes` bytes, besides the one that `network` stands
  // for. May be null: none.
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
// Specs from the table that jobs try on the ranks of a problem, besides the MPI's own, in the order of the trials.
std::vector<std::string> worth_trying(collective what, const problem& at,
                                      std::span<const algorithm> table = algorithms());
// Specs from the table that `shoal tune` measures for an all-to-all on these ranks, besides the MPI's own.
std::vector<std::string> worth_measuring(const problem& at, bool equal_blocks,
                                         std::span<const algorithm> table = algorithms());
// Null if the table has no algorithm of this name for the collective.
const algorithm* find_algorithm(std::string_view name, collective what = collective::alltoall,
                                std::span<const algorithm> table = algorithms());

// Throws std::invalid_argument, with the wrong value and what is allowed instead.
selection parse_selection(std::string_view spec, collective what = collective::alltoall,
                          std::span<const algorithm> table = algorithms());
// The shortest spec with the same meaning: parameters at their defaults are left out.
std::string to_string(const selection& chosen);

// Throws std::invalid_argument if the algorithm refuses the problem or has no schedule.
schedule generate(const selection& chosen, const problem& at, int rank);
std::vector<schedule> generate_all(const selection& chosen, const problem& at);

}  // namespace shoal
