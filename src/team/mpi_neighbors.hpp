// Whose blocks a rank exchanges: those of its neighbours, as the MPI tells them, or of all ranks.
#pragma once

#include <mpi.h>

#include <vector>

namespace shoal {

// How many blocks a rank receives and sends, and the rank of each, in the order of the blocks. MPI_PROC_NULL stands for
// nobody. If every rank exchanges with all, the lists are empty, and block i is for rank i.
struct block_peers {
  int received = 0, sent = 0;
  std::vector<int> sources, destinations;
};

// Whether the ranks of `comm` are in a grid or in a graph. The same on every rank.
bool has_neighbors(MPI_Comm comm);
// The neighbours of this rank; none without a grid or graph, which the MPI reports as an error. Local.
block_peers neighbors_of(MPI_Comm comm);

}  // namespace shoal
