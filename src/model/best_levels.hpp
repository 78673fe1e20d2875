// The hierarchical exchange that costs least on a layout of any number of levels: which levels it uses, and how.
#pragma once

#include <array>
#include <string>

#include "model/load.hpp"
#include "topology/layout_tree.hpp"

namespace shoal {

// Seconds, as in python/shoal/machine.py.
struct level_price {
  double latency = 0;      // of a wait
  double per_message = 0;  // of a message that is sent and received
  double per_byte = 0;     // of a byte; to other nodes, the bytes of all ranks of a node count, which share its link
};
struct machine_prices {
  std::array<level_price, levels> at;
  double per_copied_byte = 0;

  const level_price& of(level which) const { return at[static_cast<std::size_t>(which)]; }
};

// Prices of present processors and networks: a few hundred nanoseconds for a message, ten gigabytes a second, half of
// that between groups, as on a tapered dragonfly.
inline constexpr machine_prices common_machine{
    {{{.5e-6, .1e-6, .1e-9}, {.5e-6, .3e-6, .1e-9}, {2e-6, .5e-6, .1e-9}, {3e-6, .5e-6, .2e-9}}}, .1e-9};

struct priced_levels {
  std::string spec;
  double seconds = 0;
};

// Finds the cheapest use of levels, by the cost formulas of algorithms/hierarchical.cpp, for equal members and all
// ranks as carriers. It is a shortest path over the levels, as the best radices are a shortest path over weights
// (model/best_radices.hpp).
priced_levels best_levels(const layout_tree& layout, double block_bytes, const machine_prices& machine);

}  // namespace shoal
