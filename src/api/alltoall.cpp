#include "api/alltoall.hpp"

#include "api/alltoall_service.hpp"
#include "api/serve.hpp"

namespace shoal {

namespace {

// What was chosen, where that is the MPI's own as in the call before and nobody counts calls; else null, and the call is
// served. Saves most of a microsecond where ranks take turns on a core.
const decision* handed_on_again(communicator& state, const alltoall_call& call) {
  const settings& set = process::get().set();
  if (set.report != reporting::none || !set.record.empty() || state.asked().asks(call.uniform)) return nullptr;
  return state.choices().handed_on_again(call.uniform, call.uniform ? block_bytes(call) : 0);
}

}  // namespace

int alltoall(const alltoall_call& call, manners how, MPI_Info info, native_call native) {
  if (call.comm == MPI_COMM_NULL) return native();
  return returning_codes(call.comm, [&] {
    std::string wrong;
    communicator* state = process::get().state_of(call.comm, wrong);
    if (!state) return refused(call.comm, wrong, how, native);
    if (const decision* same = info == MPI_INFO_NULL ? handed_on_again(*state, call) : nullptr) {
      state->last = same;
      return native();
    }
    alltoall_service s(*state, call, state->offsets());
    // Before it is served, so that every rank counts the call, whatever becomes of it there.
    if (!process::get().set().record.empty())
      process::get().traffic().add(call.comm, [&](int destination) { return s.bytes_to(destination); });
    return serve(*state, s, call, how, info, native);
  });
}

}  // namespace shoal
