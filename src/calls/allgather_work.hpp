// An allgather between two groups that Shoal prepares once and starts many times.
#pragma once

#include <mpi.h>

#include <memory>

#include "calls/allgather.hpp"
#include "calls/request.hpp"
#include "learn/intercommunicator.hpp"

namespace shoal {

// Null: the MPI's own collective serves. The buffers, arrays and types that `call` names must stay until the request's
// end. Collective. Throws as allgather_service::plan() does.
std::unique_ptr<request::work> allgather_repeated(intercommunicator& state, const allgather_call& call, MPI_Info info);

}  // namespace shoal
