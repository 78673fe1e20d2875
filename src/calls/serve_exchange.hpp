// Serves calls in which ranks send each other blocks: by Shoal, or by the MPI's own collective.
#pragma once

#include <mpi.h>

#include <cstdint>

#include "calls/call_signature.hpp"
#include "calls/exchange_call.hpp"
#include "calls/native_call.hpp"
#include "learn/learner.hpp"

namespace shoal {

// The bytes of a block of MPI_Alltoall, by which all ranks know the exchange. A rank that gives one wrong count must
// still go the same way as the others. Its two sizes differ, and the wrong one is hardly ever the last exchange's.
inline std::int64_t block_of(const learner& of, const call_signature& call) {
  return call.in_place || of.is_as_last(call.received) ? call.received : call.sent;
}

// Serves a call of one of MPI's functions among all ranks, of which it is known already that it does not pass if the
// communicator was among the last ones. Throws errors, for returning_codes(). `recent`: the learner then; else null.
int serve_unpassed_of_mpi(learner* recent, const exchange_call& call, native_call native);
// Serves a call of shoal.h among all ranks. Returns an MPI error code; errors have been raised on the communicator.
// `info` may name the algorithm for this call under shoal_alltoall or the like, the same on every rank.
int serve_of_shoal(const exchange_call& call, MPI_Info info, native_call native);
// Serves a call among neighbours. Returns an MPI error code, as above. Ranks do not know each other's sizes, so by its
// form alone it is told whether a call passes.
[[gnu::hot]] int serve_along_edges(const exchange_call& call, interface from, native_call native);

}  // namespace shoal
