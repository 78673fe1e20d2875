// An all-to-all that is started in one call and ended in another, Shoal's way. Null: the MPI's own is to run.
#pragma once

#include <mpi.h>

#include <memory>

#include "calls/alltoall.hpp"
#include "calls/request.hpp"
#include "learn/communicator.hpp"

namespace shoal {

// The buffers, arrays and types that `call` names stay until the end, and its ranks are open.

// To be started once, and at once: asks no other rank.
std::unique_ptr<request::work> alltoall_once(communicator& state, const alltoall_call& call);
// To be started many times. Collective. Throws as alltoall() does.
std::unique_ptr<request::work> alltoall_repeated(communicator& state, const alltoall_call& call, MPI_Info info);

}  // namespace shoal
