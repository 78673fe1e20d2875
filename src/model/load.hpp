// What a schedule asks of a machine with several levels, counted from the schedule itself. LogGP-like: a level costs a
// latency for every wait, a startup for every message and a time for every byte; blocks that leave or arrive together
// with others are copied on top. python/shoal/machine.py has the prices, and fits them.
#pragma once

#include <array>
#include <cstdint>

#include "algorithms/algorithm.hpp"

namespace shoal {

// Ranks of a node reach each other through memory they share, where the schedule says so, or by messages; nodes of one
// group (layout_tree::group_level), or all, over the network, others over the links between groups.
enum class level { memory, node, network, groups };
constexpr int levels = 4;

struct level_load {
  std::int64_t waits = 0;     // the longest chain of messages that wait for each other
  std::int64_t messages = 0;  // sent
  std::int64_t blocks = 0;    // sent; to other nodes by all ranks of a node, which share its link
};

struct exchange_load {
  std::array<level_load, levels> at;
  std::int64_t copied_blocks = 0;  // packed into or unpacked from messages of several blocks

  const level_load& of(level which) const { return at[static_cast<std::size_t>(which)]; }
};

exchange_load load_of(const schedule& program, const problem& at);

// Every count is that of the rank where it is largest; of more than 64 ranks some, at equal distances, are looked at. Throws
// std::invalid_argument where the algorithm refuses the problem or has no schedule.
exchange_load load_of(const selection& chosen, const problem& at);

}  // namespace shoal
