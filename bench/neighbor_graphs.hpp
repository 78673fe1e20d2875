// Who exchanges with whom among neighbours, by names that `shoal plan --graph` and `shoal simulate` have too.
#pragma once

#include <optional>
#include <string>

#include "schedule/neighbor_graph.hpp"

namespace shoal::bench {

// The number in partners:8; none where that is not such a name.
std::optional<int> partners_in(const std::string& name);

// The same on every rank:
// * partners:8: every rank sends to 8 others, or all where these are fewer, drawn at random.
// * grid:4x2, torus:4x2, in any number of dimensions: to the rank before and the one behind in each, as in MPI's grids.
// Throws std::invalid_argument where there is no such graph of so many ranks.
neighbor_graph graph_named(const std::string& name, int ranks);

}  // namespace shoal::bench
