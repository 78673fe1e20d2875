// What Shoal keeps for a communicator, for the variants that Shoal carries out.
#pragma once

#include <mpi.h>

#include <stdexcept>
#include <string>

#include "calls/process.hpp"

namespace shoal::bench {

// Makes the state on first use, which is collective.
inline communicator& state_on(MPI_Comm comm) {
  std::string why;
  if (communicator* state = process::get().state_of(comm, true, why)) return *state;
  throw std::runtime_error("Shoal does not serve these ranks: " + why);
}

// What measured::phases() returns, for this state.
template <typename State>
const phase_clock* phases_of(State* state) {
  return state && state->last && state->last->algorithm->has_schedule() ? state->phases() : nullptr;
}

}  // namespace shoal::bench
