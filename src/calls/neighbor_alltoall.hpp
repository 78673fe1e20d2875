// MPI_Neighbor_alltoall, MPI_Neighbor_alltoallv and MPI_Neighbor_alltoallw: each rank exchanges with its neighbours in a
// grid or graph, a block for each edge.
#pragma once

#include "calls/exchange_call.hpp"

namespace shoal {

extern const exchange_kind among_neighbors;

}  // namespace shoal
