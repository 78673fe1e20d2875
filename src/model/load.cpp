#include "model/load.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>

#include "topology/layout_tree.hpp"

namespace shoal {

namespace {

constexpr int most_looked_at = 64;

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

// How many blocks a transfer packs or unpacks. A single block moves straight from buffer to buffer, and a received
// block that passes through stays in the message in which it came.
std::int64_t copied(const schedule& program, const operation& op) {
  if (op.slot_count < 2) return 0;
  if (op.kind == op_kind::send) return op.slot_count;
  const auto slots = program.slots_of(op);
  return std::count_if(slots.begin(), slots.end(), [](slot s) { return s.at() == place::recv; });
}

using chain = std::array<std::int64_t, levels>;  // how many messages follow one another, by level

void lengthen(chain& mine, const chain& other) {
  for (std::size_t l = 0; l < levels; ++l) mine[l] = std::max(mine[l], other[l]);
}

// A message that arrives in a step was sent after as long a chain as the messages that this rank sends in the step,
// because all ranks do the same. Receives may stand before the sends of their step, so the loop goes through the
// operations until nothing changes, or about once for each step.
chain longest_chain(const schedule& program, const problem& at) {
  std::vector<chain> ends(program.operations.size(), chain{});
  std::map<int, chain> sent_in;
  chain longest{}, before{};
  std::size_t times = 0;
  do {
    before = longest;
    for (std::size_t id = 0; id < program.operations.size(); ++id) {
      const operation& op = program.operations[id];
      chain mine{};
      for (const op_id earlier : program.after_of(op)) lengthen(mine, ends[earlier]);
      if (op.kind == op_kind::send) ++mine[level_of(program, at, op.peer)];
      if (op.kind == op_kind::send) lengthen(sent_in[op.step], mine);
      if (op.kind == op_kind::recv) lengthen(mine, sent_in[op.step]);
      lengthen(longest, ends[id] = mine);
    }
  } while (longest != before && ++times <= sent_in.size());
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

}  // namespace

exchange_load load_of(const schedule& program, const problem& at) {
  exchange_load load;
  for (const operation& op : program.operations) {
    if (op.kind == op_kind::copy) continue;
    load.copied_blocks += copied(program, op);
    if (op.kind != op_kind::send) continue;
    level_load& used = load.at[level_of(program, at, op.peer)];
    ++used.messages;
    used.blocks += op.slot_count;
  }
  const chain longest = longest_chain(program, at);
  for (std::size_t l = 0; l < levels; ++l) load.at[l].waits = longest[l];
  const int sharing = at.nodes ? at.nodes->size_of(at.nodes->node_of(program.rank)) : 1;
  for (const level to_other_nodes : {level::network, level::groups})
    load.at[static_cast<std::size_t>(to_other_nodes)].blocks *= sharing;
  return load;
}

exchange_load load_of(const selection& chosen, const problem& at) {
  if (!chosen.which->generate) throw std::invalid_argument(chosen.which->name + " has no schedule to count");
  exchange_load all;
  const int stride = (at.ranks + most_looked_at - 1) / most_looked_at;
  for (int rank = 0; rank < at.ranks; rank += stride) keep_largest(all, load_of(generate(chosen, at, rank), at));
  return all;
}

}  // namespace shoal
