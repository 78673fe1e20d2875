#include "api/alltoall.hpp"

#include "api/alltoall_service.hpp"
#include "api/boundary.hpp"
#include "api/process.hpp"

namespace shoal {

namespace {

int run(communicator& state, alltoall_service& s, const alltoall_call& call, const decision& chosen, native_call native) {
  const settings& set = process::get().set();
  prepared& how = *chosen.how;
  state.last = &chosen;
  const bool told = set.report != reporting::none;
  if (!how.steps && !told) return native();
  const double begin = told ? PMPI_Wtime() : 0;
  int code = MPI_SUCCESS;
  if (how.steps) state.run(how, s.blocks());
  else code = native();
  if (told) {
    usage& use = call.uniform ? how.uniform_use : how.nonuniform_use;
    use.add(s.bytes_sent(), PMPI_Wtime() - begin, how.steps ? state.phases() : nullptr);
  }
  if (how.steps && set.verify) s.verify(native);
  return code;
}

}  // namespace

int alltoall(const alltoall_call& call, manners how, MPI_Info info, native_call native) {
  if (call.comm == MPI_COMM_NULL) return native();
  return returning_codes(call.comm, [&] {
    std::string wrong;
    communicator* state = process::get().state_of(call.comm, wrong);
    if (!state) return refused(call.comm, wrong, how, native);
    alltoall_service s(*state, call, state->offsets());
    const decision* chosen = nullptr;
    try {
      chosen = s.pick(info);
    } catch (const std::invalid_argument& error) {  // the same on every rank
      return refused(call.comm, error.what(), how, native);
    }
    return chosen ? run(*state, s, call, *chosen, native) : native();
  });
}

}  // namespace shoal
