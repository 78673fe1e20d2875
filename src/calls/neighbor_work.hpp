// An exchange among neighbours that Shoal starts in one call and ends in another. Null: the MPI's own serves.
#pragma once

#include <mpi.h>

#include <memory>

#include "calls/neighbor_alltoall.hpp"
#include "calls/request.hpp"

namespace shoal {

// The buffers, arrays and types that `call` names must stay until the request's end.

// To be started once, and at once. Asks no other rank.
std::unique_ptr<request::work> neighbor_once(const std::shared_ptr<neighborhood>& among, const neighbor_call& call);
// To be started many times. Collective. Throws as neighbor_service::plan() does.
std::unique_ptr<request::work> neighbor_repeated(const std::shared_ptr<neighborhood>& among, const neighbor_call& call,
                                                 MPI_Info info);

}  // namespace shoal
