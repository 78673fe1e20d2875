// An all-to-all that Shoal starts in one call and ends in another. Null: the MPI's own collective serves.
#pragma once

#include <mpi.h>

#include <memory>

#include "calls/alltoall.hpp"
#include "calls/request.hpp"
#include "learn/communicator.hpp"

namespace shoal {

// The buffers, arrays and types that `call` names must stay until the request's end, and its ranks must be open.

// To be started once, and at once. Asks no other rank.
std::unique_ptr<request::work> alltoall_once(communicator& state, const alltoall_call& call);
// To be started many times. Collective. Throws as alltoall_service::plan() does.
std::unique_ptr<request::work> alltoall_repeated(communicator& state, const alltoall_call& call, MPI_Info info);

}  // namespace shoal
