// What a schedule asks of a machine with several levels, counted from the schedule itself. The model is like LogGP: a
// level costs a latency for each wait, a startup for each message, and a time for each byte. Blocks that leave or
// arrive together with others are also copied. python/shoal/machine.py has the prices, and fits them.
#pragma once

#include <array>
#include <cstdint>

#include "algorithms/algorithm.hpp"

namespace shoal {

// How two ranks reach each other. In one node: through memory that they share if the schedule says so (memory), or else
// by messages (node). In two nodes: over the network, or over the links between groups if the nodes are in different
// groups (layout_tree::group_level).
enum class level { memory, node, network, groups };
constexpr int levels = 4;

struct level_load {
  std::int64_t waits = 0;     // the longest chain of messages that wait for each other
  std::int64_t messages = 0;  // sent
  std::int64_t blocks = 0;    // sent; to other nodes, by all ranks of a node, which share its link
};

struct exchange_load {
  std::array<level_load, levels> at;
  // Packed into messages of several blocks, unpacked from them, or moved in memory; not a rank's block for itself.
  std::int64_t copied_blocks = 0;

  const level_load& of(level which) const { return at[static_cast<std::size_t>(which)]; }
};

// Each count is that of the rank, or node, on which it is largest. Of more than 64 ranks, only those of the largest
// node and of one node in each stretch of others are looked at, about 64 in all. Throws std::invalid_argument if the
// algorithm refuses the problem or has no schedule.
exchange_load load_of(const selection& chosen, const problem& at);

}  // namespace shoal
