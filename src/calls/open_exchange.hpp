// Exchanges behind requests of the MPI's own: those of MPI_Ialltoall, MPI_Alltoall_init, MPI_Ineighbor_alltoall,
// MPI_Neighbor_alltoall_init and their -v and -w forms under the preload. The MPI moves them whenever it moves.
#pragma once

#include <mpi.h>

#include "calls/alltoall.hpp"
#include "calls/native_call.hpp"
#include "calls/neighbor_alltoall.hpp"

namespace shoal {

// They give back a request, of Shoal's exchange or of the MPI's own; `native` makes the latter.
int start_exchange(alltoall_call call, MPI_Request* request, native_call native);
int start_exchange(neighbor_call call, MPI_Request* request, native_call native);
int prepare_exchange(alltoall_call call, MPI_Info info, MPI_Request* request, native_call native);
int prepare_exchange(neighbor_call call, MPI_Info info, MPI_Request* request, native_call native);

// What is done with persistent requests, whoever made them. They cost what they cost without Shoal as long as none is Shoal's.
int start_requests(int count, MPI_Request* requests);
int start_request(MPI_Request* request);
int free_request(MPI_Request* request);

// At the end of the program nothing moves any more.
void leave_open_exchanges();

}  // namespace shoal
