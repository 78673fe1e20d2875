// Nonblocking and persistent all-to-alls under the preload, also among neighbours. For each the program holds a request
// of the MPI's own, and the MPI moves the exchanges whenever it makes progress.
#pragma once

#include <mpi.h>

#include "calls/exchange_call.hpp"
#include "calls/native_call.hpp"

namespace shoal {

// Both give back a request, for Shoal's exchange or for the MPI's own collective. `native` makes the latter.
int start_exchange(const exchange_call& call, MPI_Request* request, native_call native);
int prepare_exchange(const exchange_call& call, MPI_Info info, MPI_Request* request, native_call native);

// MPI_Startall, MPI_Start and MPI_Request_free, for requests of Shoal's and all others. As long as no persistent
// request is Shoal's, they cost what they cost without Shoal.
int start_requests(int count, MPI_Request* requests);
int start_request(MPI_Request* request);
int free_request(MPI_Request* request);

// For MPI_Finalize: no exchange moves any more.
void leave_open_exchanges();

}  // namespace shoal
