// An allgather between two groups that is made ready once and started many times, Shoal's way.
#pragma once

#include <mpi.h>

#include <memory>

#include "calls/allgather.hpp"
#include "calls/request.hpp"
#include "learn/intercommunicator.hpp"

namespace shoal {

// Null: the MPI's own is to run. The buffers and arrays that `call` names stay until the end. Collective. Throws as
// allgather() does.
std::unique_ptr<request::work> allgather_repeated(intercommunicator& state, const allgather_call& call, MPI_Info info);

}  // namespace shoal
