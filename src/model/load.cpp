#include "model/load.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>

#include "topology/layout_tree.hpp"

namespace shoal {

namespace {

constexpr int most_looked_at = 64;  // ranks, if nodes are small

bool same_node(const problem& at, int a, int b) { return at.nodes && at.nodes->node_of(a) == at.nodes->node_of(b); }

bool same_group(const problem& at, int a, int b) {
  if (!at.levels) return true;
  return at.levels->group(at.levels->group_level(), at.levels->virtual_rank(a)).holds(at.levels->virtual_rank(b));
}

std::size_t level_of(const schedule& program, const problem& at, int peer) {
  const level inside = program.shared_memory ? level::memory : level::node;
  const level between = same_group(at, program.rank, peer) ? level::network : level::groups;
  return static_cast<std::size_t>(same_node(at, program.rank, peer) ? inside : between);
}

// How many slots an operation packs, unpacks or moves. A single block moves straight from buffer to buffer, and a
// received block that passes through stays in the message in which it came. Every exchange copies a rank's block for
// itself, so that does not count.
std::int64_t copied(const schedule& program, const operation& op) {
  if (op.slot_count < 2) return 0;
  if (op.kind == op_kind::send) return op.slot_count;
  const auto slots = program.slots_of(op);
  if (op.kind == op_kind::copy) return slots[0].at() == place::send && slots[1].at() == place::recv ? 0 : 1;
  return std::count_if(slots.begin(), slots.end(), [](slot s) { return s.at() == place::recv; });
}

using chain = std::array<std::int64_t, levels>;  // how many messages follow one another, by level
using chains = std::map<int, chain>;             // the longest that end with a message of this step

void lengthen(chain& mine, const chain& other) {
  for (std::size_t l = 0; l < levels; ++l) mine[l] = std::max(mine[l], other[l]);
}

// A message that arrives in a step was sent after as long a chain as those that `sent_in` has for the step. To these the
// messages of this rank are added. Receives may stand before the sends of their step, so the loop goes through the
// operations until nothing changes, or about once for each step.
chain longest_chain(const schedule& program, const problem& at, chains& sent_in) {
  std::vector<chain> ends(program.operations.size(), chain{});
  chain longest{};
  std::size_t times = 0;
  bool grows;
  do {
    grows = false;
    for (std::size_t id = 0; id < program.operations.size(); ++id) {
      const operation& op = program.operations[id];
      chain mine{};
      for (const op_id earlier : program.after_of(op)) lengthen(mine, ends[earlier]);
      if (op.kind == op_kind::send) ++mine[level_of(program, at, op.peer)];
      if (op.kind == op_kind::send) lengthen(sent_in[op.step], mine);
      if (op.kind == op_kind::recv) lengthen(mine, sent_in[op.step]);
      lengthen(longest, mine);
      grows = grows || mine != ends[id];
      ends[id] = mine;
    }
  } while (grows && ++times <= sent_in.size());
  return longest;
}

void keep_largest(exchange_load& all, const exchange_load& one) {
  for (std::size_t l = 0; l < levels; ++l) {
    all.at[l].waits = std::max(all.at[l].waits, one.at[l].waits);
    all.at[l].messages = std::max(all.at[l].messages, one.at[l].messages);
    all.at[l].blocks = std::max(all.at[l].blocks, one.at[l].blocks);
  }
  all.copied_blocks = std::max(all.copied_blocks, one.copied_blocks);
}

exchange_load load_of_rank(const schedule& program, const problem& at, chains& sent_in) {
  exchange_load load;
  for (const operation& op : program.operations) {
    load.copied_blocks += copied(program, op);
    if (op.kind != op_kind::send) continue;
    level_load& used = load.at[level_of(program, at, op.peer)];
    ++used.messages;
    used.blocks += op.slot_count;
  }
  load.copied_blocks /= program.parts;
  const chain longest = longest_chain(program, at, sent_in);
  for (std::size_t l = 0; l < levels; ++l) {
    load.at[l].waits = longest[l];
    load.at[l].blocks /= program.parts;
  }
  return load;
}

// What the ranks of a node send to other nodes is added up. In an all-to-all a rank gets what it sends itself, because all
// ranks do the same. Among neighbours it gets what others do (`sent_in`).
exchange_load load_of_node(const selection& chosen, const problem& at, std::span<const int> ranks, chains& sent_in) {
  exchange_load all;
  std::array<std::int64_t, levels> sent{};
  for (const int rank : ranks) {
    chains own;
    const exchange_load one = load_of_rank(generate(chosen, at, rank), at, at.neighbors ? sent_in : own);
    keep_largest(all, one);
    for (std::size_t l = 0; l < levels; ++l) sent[l] += one.at[l].blocks;
  }
  for (const level to_other_nodes : {level::network, level::groups}) {
    const auto l = static_cast<std::size_t>(to_other_nodes);
    all.at[l].blocks = sent[l];
  }
  return all;
}

int number_of_largest(const node_layout& nodes) {
  int largest = 0;
  while (nodes.size_of(largest) < nodes.largest_node()) ++largest;
  return largest;
}

}  // namespace

exchange_load load_of(const selection& chosen, const problem& at) {
  if (!chosen.which->generate) throw std::invalid_argument(chosen.which->name + " has no schedule to count");
  // On a single node there is nothing to add up, so its ranks count as nodes of their own.
  const node_layout* const several = at.nodes && at.nodes->nodes() > 1 ? at.nodes.get() : nullptr;
  const int nodes = several ? several->nodes() : at.ranks, first = several ? number_of_largest(*several) : 0;
  const int stride = (at.ranks + most_looked_at - 1) / most_looked_at;
  exchange_load all;
  chains sent_in, before;
  do {  // again until no chain grows
    before = sent_in;
    for (int i = 0; i < nodes; i += stride) {
      // Another place in each stretch of nodes, because a stretch may be as long as a group of nodes.
      const int node = (first + std::min(i + i / stride % stride, nodes - 1)) % nodes;
      keep_largest(all, load_of_node(chosen, at, several ? several->ranks_of(node) : std::span(&node, 1), sent_in));
    }
  } while (sent_in != before);
  return all;
}

}  // namespace shoal
