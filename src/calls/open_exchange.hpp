// Exchanges behind requests of the MPI's own: all-to-alls, also among neighbours, that do not block or are persistent, under
// the preload. The MPI moves them whenever it moves.
#pragma once

#include <mpi.h>

#include "calls/native_call.hpp"

namespace shoal {

// They give back a request, of Shoal's exchange or of the MPI's own; `native` makes the latter.
template <typename Call>
int start_exchange(const Call& call, MPI_Request* request, native_call native);
template <typename Call>
int prepare_exchange(const Call& call, MPI_Info info, MPI_Request* request, native_call native);

// What is done with persistent requests, whoever made them. They cost what they cost without Shoal as long as none is Shoal's.
int start_requests(int count, MPI_Request* requests);
int start_request(MPI_Request* request);
int free_request(MPI_Request* request);

// At the end of the program nothing moves any more.
void leave_open_exchanges();

}  // namespace shoal
