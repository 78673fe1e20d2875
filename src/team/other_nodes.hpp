// Whether ranks on other nodes have the preload too. mpirun of Open MPI hands LD_PRELOAD to the ranks of its own node
// only, unless it is told to hand it to all (-x LD_PRELOAD); and the file may lie on one node only. So either the node
// of the first rank lacks the preload then, or all other nodes do. Other launchers hand on what their users have set.
#pragma once

namespace shoal {

// To be called when MPI_Init has ended, in a job on several nodes. The first rank of a node asks mpirun to keep a name
// (MPI_Publish_name), by which other ranks see that the node has the preload.
void announce_preload();

// Whether the node of the first rank, or all other nodes, lack the preload. All ranks that ask find the same. A rank
// that does not see by itself that all nodes have it asks mpirun twice. That takes long if ranks share cores and mpirun
// is on another node. It waits up to a second after MPI_Init for ranks that have not announced themselves yet. False if
// a tool before the preload takes MPI_Init: then nobody has announced anything.
bool other_nodes_lack_preload();

}  // namespace shoal
