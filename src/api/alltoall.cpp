#include "api/alltoall.hpp"

#include "api/alltoall_service.hpp"
#include "api/native_nonblocking.hpp"
#include "api/serve.hpp"

namespace shoal {

int alltoall(const alltoall_call& call, manners how, MPI_Info info, native_call native) {
  if (call.comm == MPI_COMM_NULL && how == manners::strict)  // some MPIs crash
    return raise_error(call.comm, MPI_ERR_COMM, "no communicator");
  if (call.comm == MPI_COMM_NULL) return native();
  communicator* state = nullptr;
  const auto moving = [&, blocking = native] {
    return natively(call, state ? state->wait().mode() : wait_mode::yield, blocking);
  };
  if (how == manners::strict) native = moving;
  return returning_codes(call.comm, [&] {
    std::string wrong;
    state = process::get().state_of(call.comm, wrong);
    if (!state) return refused(call.comm, wrong, how, native);
    const std::scoped_lock alone(state->lock());
    alltoall_service s(*state, call, state->offsets());
    // Before it is served, so that every rank counts the call, whatever becomes of it there.
    if (!process::get().set().record.empty())
      process::get().traffic().add(call.comm, [&](int destination) { return s.bytes_to(destination); });
    return serve(*state, s, call, how, info, native);
  });
}

}  // namespace shoal
