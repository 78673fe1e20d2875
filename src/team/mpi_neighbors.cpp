#include "team/mpi_neighbors.hpp"

#include "transport/mpi_error.hpp"

namespace shoal {

namespace {

int topology_of(MPI_Comm comm) {
  int kind = MPI_UNDEFINED;
  if (comm != MPI_COMM_NULL) require(PMPI_Topo_test(comm, &kind), "MPI_Topo_test");
  return kind;
}

// For each dimension the neighbour before this rank, then the one after it.
block_peers in_grid(MPI_Comm comm) {
  block_peers found;
  int dimensions = 0;
  require(PMPI_Cartdim_get(comm, &dimensions), "MPI_Cartdim_get");
  for (int d = 0; d < dimensions; ++d) {
    int before = MPI_PROC_NULL, behind = MPI_PROC_NULL;
    require(PMPI_Cart_shift(comm, d, 1, &before, &behind), "MPI_Cart_shift");
    found.sources.insert(found.sources.end(), {before, behind});
  }
  found.destinations = found.sources;
  return found;
}

block_peers in_graph(MPI_Comm comm) {
  block_peers found;
  int rank = 0, count = 0;
  require(PMPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  require(PMPI_Graph_neighbors_count(comm, rank, &count), "MPI_Graph_neighbors_count");
  found.sources.resize(static_cast<std::size_t>(count));
  require(PMPI_Graph_neighbors(comm, rank, count, found.sources.data()), "MPI_Graph_neighbors");
  found.destinations = found.sources;
  return found;
}

block_peers in_distributed_graph(MPI_Comm comm) {
  block_peers found;
  int in = 0, out = 0, weighted = 0;
  require(PMPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted), "MPI_Dist_graph_neighbors_count");
  found.sources.resize(static_cast<std::size_t>(in));
  found.destinations.resize(static_cast<std::size_t>(out));
  std::vector<int> in_weights(found.sources.size() + 1), out_weights(found.destinations.size() + 1);
  require(PMPI_Dist_graph_neighbors(comm, in, found.sources.data(), weighted ? in_weights.data() : MPI_UNWEIGHTED, out,
                                    found.destinations.data(), weighted ? out_weights.data() : MPI_UNWEIGHTED),
          "MPI_Dist_graph_neighbors");
  return found;
}

block_peers listed_neighbors(MPI_Comm comm) {
  switch (topology_of(comm)) {
    case MPI_CART: return in_grid(comm);
    case MPI_GRAPH: return in_graph(comm);
    case MPI_DIST_GRAPH: return in_distributed_graph(comm);
    default: return {};
  }
}

}  // namespace

bool has_neighbors(MPI_Comm comm) { return topology_of(comm) != MPI_UNDEFINED; }

block_peers neighbors_of(MPI_Comm comm) {
  block_peers found = listed_neighbors(comm);
  found.received = static_cast<int>(found.sources.size());
  found.sent = static_cast<int>(found.destinations.size());
  return found;
}

}  // namespace shoal
