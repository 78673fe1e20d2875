// An exchange among neighbours that is started in one call and ended in another, Shoal's way. Null: the MPI's own is to run.
#pragma once

#include <mpi.h>

#include <memory>

#include "calls/neighbor_alltoall.hpp"
#include "calls/request.hpp"

namespace shoal {

// The buffers and arrays that `call` names stay until the end.

// To be started once, and at once: asks no other rank.
std::unique_ptr<request::work> neighbor_once(const std::shared_ptr<neighborhood>& among, const neighbor_call& call);
// To be started many times. Collective. Throws as neighbor_alltoall() does.
std::unique_ptr<request::work> neighbor_repeated(const std::shared_ptr<neighborhood>& among, const neighbor_call& call,
                                                 MPI_Info info);

}  // namespace shoal
