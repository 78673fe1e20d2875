// The neighbours of a rank, as the MPI tells them.
#pragma once

#include <mpi.h>

#include <vector>

namespace shoal {

// In the order of the blocks that neighbourhood collectives exchange. MPI_PROC_NULL stands for nobody.
struct neighbor_ranks {
  std::vector<int> sources, destinations;
};

// Whether the ranks of `comm` are in a grid or in a graph. The same on every rank.
bool has_neighbors(MPI_Comm comm);
// The neighbours of this rank; none without a grid or graph, which the MPI reports as an error. Local.
neighbor_ranks neighbors_of(MPI_Comm comm);

}  // namespace shoal
