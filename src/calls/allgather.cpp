#include "calls/allgather.hpp"

#include "calls/allgather_service.hpp"
#include "calls/mpi_datatype.hpp"
#include "calls/native_nonblocking.hpp"
#include "calls/serve.hpp"
#include "team/boundary.hpp"
#include "team/fault_tolerance.hpp"
#include "team/nearest_rounding.hpp"

namespace shoal {

namespace {

std::int64_t bytes_of(std::int64_t count, MPI_Datatype type) { return count * size_of(type); }

// `of`: null if nothing is kept for the communicator.
int unserved(group_learner* of, const allgather_call& call, native_call native) {
  const double begin = PMPI_Wtime();
  const int code = native();
  if (of && was_freed(code, call.comm)) return code;
  if (was_refused(code, call.comm, [&] { return call; }) && call.is_awaited()) return code;
  const std::int64_t sent = bytes_of(call.send_count, call.send_type);
  const std::int64_t known = call.uniform ? sent + bytes_of(call.recv_counts[0], call.recv_type) : 0;
  const double seconds = PMPI_Wtime() - begin;
  process::get().books().called(seconds);
  if (of) of->count_unserved(call.uniform, sent, known, seconds);
  return code;
}

// As in serve_learnt(), a call does not count if the MPI refuses it here while others wait for this rank.
int serve_counted(intercommunicator& state, const allgather_call& call, interface from, MPI_Info info,
                  native_call native) {
  const std::scoped_lock alone(state.all().lock());
  const double begin = PMPI_Wtime();
  allgather_service s(state, call);
  bool is_refused = true;  // unless serve() returns
  const auto served = [&] {
    const int code = serve(s, call, from, info, native);
    is_refused = !s.has_met_others() && was_refused(code, call.comm, [&] { return call; });
    return code;
  };
  return ended_by(served, [&] {
    if (is_refused && !s.has_met_others() && call.is_awaited()) return state.take_back(s.counts_in());
    state.end(s.counts_in(), PMPI_Wtime() - begin);
  });
}

}  // namespace

bool allgather_call::is_awaited() const {
  if (send_count != 0 || recv_counts.is_missing()) return true;
  int others = 0;
  require(PMPI_Comm_remote_size(comm, &others), "MPI_Comm_remote_size");
  for (int i = 0; i < others; ++i)
    if (recv_counts[i] != 0) return true;
  return false;
}

int allgather(const allgather_call& call, interface from, MPI_Info info, native_call native) {
  intercommunicator* state = nullptr;
  const auto moving = [&, blocking = native] {
    return natively(call, state ? state->all().wait().mode() : wait_mode::yield, blocking);
  };
  if (from == interface::shoal) native = moving;
  return returning_codes(call.comm, [&] {
    if (call.comm == MPI_COMM_NULL) return without_communicator(from, native);
    if (!between_groups(call.comm) || is_revoked(call.comm)) return native();
    const nearest_rounding as_on_others;
    const auto by_mpi = [&] { return as_on_others.as_of_program(native); };
    std::string wrong;
    process& job = process::get();
    group_learner* const of = job.group_learner_of(call.comm);
    if (error_handlers::were_made() && is_refused_alone(call)) return by_mpi();
    if (of) of->forget_last();
    if (info == MPI_INFO_NULL && !job.asks_for(call.what, call.form()) && !(of && of->may_serve()))
      return unserved(of, call, by_mpi);
    state = job.groups_of(call.comm, from == interface::shoal, wrong);
    const auto left = [&] { return job.leave(call, "Shoal cannot serve these groups", by_mpi); };
    if (!state) return refused(call.comm, wrong, from, left);
    if (state->all().is_lost()) return by_mpi();
    return serve_counted(*state, call, from, info, by_mpi);
  });
}

}  // namespace shoal
