// Who the neighbours of a rank are, as the MPI tells.
#pragma once

#include <mpi.h>

#include <vector>

namespace shoal {

// In the order of the blocks that neighbourhood collectives exchange. MPI_PROC_NULL: nobody.
struct neighbor_ranks {
  std::vector<int> sources, destinations;
};

// Whether its ranks are in a grid or in a graph; the same on every rank.
bool has_neighbors(MPI_Comm comm);
// None where it has none, which the MPI reports. Local.
neighbor_ranks neighbors_of(MPI_Comm comm);

}  // namespace shoal
