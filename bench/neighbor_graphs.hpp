// Graphs of neighbours, by names that `shoal plan --graph` and `shoal simulate` know too.
#pragma once

#include <optional>
#include <string>

#include "schedule/neighbor_graph.hpp"

namespace shoal::bench {

// The 8 of partners:8; none if the name has another form.
std::optional<int> partners_in(const std::string& name);

// The graph with this name. It is the same on every rank:
// * partners:8: every rank sends to 8 other ranks, drawn at random, or to all others if there are fewer.
// * grid:4x2, torus:4x2, in any number of dimensions: in each dimension every rank sends to the rank before it and to
//   the rank behind it, as in MPI's grids.
// Throws std::invalid_argument if there is no such graph with this number of ranks.
neighbor_graph graph_named(const std::string& name, int ranks);

}  // namespace shoal::bench
