#include "calls/alltoall.hpp"

#include <algorithm>

#include "calls/alltoall_service.hpp"
#include "calls/native_nonblocking.hpp"
#include "calls/passing.hpp"
#include "calls/serve.hpp"
#include "learn/learner.hpp"
#include "team/fault_tolerance.hpp"
#include "team/nearest_rounding.hpp"

namespace shoal {

namespace {

// Serves a call, from the first one on, as settings, the communicator or `info` ask. Also if settings are wrong.
int serve_named(learner& of, const alltoall_call& call, interface from, MPI_Info info, native_call native) {
  if (!of.state() && is_revoked(call.comm)) return native();
  if (!of.was_entered() && is_refused_alone(call)) return native();
  const bool is_linked = from == interface::shoal;
  const bool by_natives = info == MPI_INFO_NULL && of.asks_for_natives(call.form());
  communicator* const state = by_natives ? of.enter_for_natives(is_linked) : of.enter(is_linked);
  const auto left = [&] { return process::get().leave(call, of.is_wrong() ? "see the warning" : of.why(), native); };
  if (!state) return refused(call.comm, of.is_wrong() ? of.why() : "", from, left);
  const std::scoped_lock alone(state->all().lock());
  alltoall_service s(*state, call, state->blocks());
  const int code = serve(s, call, from, info, native);
  if (by_natives) of.let_named_pass();
  return code;
}

// Called before a call is served, so that every rank counts the call, whatever becomes of it. All record, or none.
void record(learner& of, const alltoall_call& call, interface from) {
  if (process::get().set().record.empty()) return;
  if (of.enter(from == interface::shoal) && traffic_record::is_of(call.comm)) process::get().traffic().add(call);
}

std::int64_t block_of(const learner& of, const alltoall_call& call) {
  return block_of(of, signature_of(call.send, call.send_counts[0], call.send_type[0], call.recv, call.recv_counts[0],
                                   call.recv_type[0], call.comm));
}

[[gnu::hot]] int serve_settled(learner& of, const alltoall_call& call, interface from, native_call native) {
  call_size size{call.form(), call.uniform ? block_of(of, call) : call.bytes_to_all(of.blocks()),
                 call.receives_from_all(of.blocks())};
  if (call.in_place()) size.copied = size.bytes * (call.uniform ? of.blocks() : 1);
  return serve_learnt(of, call, size, from, native, [&](const decision& settled, outcome& result) {
    communicator& state = *of.state();
    const std::scoped_lock alone(state.all().lock());
    alltoall_service s(state, call, state.blocks());
    return carry_out_settled(s, call, settled, native, result);
  });
}

int serve_unpassed(learner& of, const alltoall_call& call, interface from, MPI_Info info, native_call native) {
  if (of.is_idle() && info == MPI_INFO_NULL) return native();
  const nearest_rounding as_on_others;
  const auto by_mpi = [&] { return as_on_others.as_of_program(native); };
  of.take_passes();  // forgets what a call before this one allowed
  if (is_lost(of, call.comm)) return by_mpi();
  record(of, call, from);
  if (of.names_algorithm(call.form(), info)) return serve_named(of, call, from, info, by_mpi);
  return serve_settled(of, call, from, by_mpi);
}

// `of`: null if the communicator has no learner.
int serve_any(learner* of, const alltoall_call& call, interface from, MPI_Info info, native_call native) {
  if (!of) return process::get().leave(call, process::why_unknown(call.comm), native);
  if (info == MPI_INFO_NULL && of->passes(call.form(), call.uniform ? block_of(*of, call) : 0)) {
    of->take_passes();
    return carry_out_passed(call, native);
  }
  return serve_unpassed(*of, call, from, info, native);
}

}  // namespace

std::int64_t alltoall_call::bytes_to(int destination) const {
  const std::int64_t count = sent_counts()[destination];
  return count ? count * bytes_of(sent_type()[destination]) : 0;
}

std::int64_t alltoall_call::bytes_to_all(int ranks) const {
  const number_array& counts = sent_counts();
  std::int64_t sum = 0;
  for (int i = 0; i < ranks; ++i) sum += sent_type().differ() ? bytes_to(i) : counts[i];
  return sent_type().differ() ? sum : sum * bytes_of(sent_type()[0]);
}

// One block may be empty, as it may be this rank's own.
bool alltoall_call::receives_from_all(int ranks) const {
  if (uniform) return recv_counts[0] > 0;
  int empty = 0;
  for (int i = 0; i < ranks; ++i) empty += recv_counts[i] == 0;
  return empty <= 1;
}

bool alltoall_call::is_awaited() const {
  int ranks = 0, rank = 0;
  require(PMPI_Comm_size(comm, &ranks), "MPI_Comm_size");
  require(PMPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  if (recv_counts.is_missing() || sent_counts().is_missing()) return ranks > 1;
  for (int i = 0; i < ranks; ++i)
    if (i != rank && (recv_counts[i] != 0 || sent_counts()[i] != 0)) return true;
  return false;
}

int alltoall(const alltoall_call& call, MPI_Info info, native_call blocking) {
  learner* of = nullptr;
  const auto native = [&] { return natively(call, of ? of->waits_by() : wait_mode::yield, blocking); };
  return returning_codes(call.comm, [&] {
    if (call.comm == MPI_COMM_NULL) return without_communicator(interface::shoal, native);
    of = process::learner_of(call.comm);
    return serve_any(of, call, interface::shoal, info, native);
  });
}

int alltoall_of_mpi(learner* unpassed, const alltoall_call& call, native_call native) {
  if (call.comm == MPI_COMM_NULL) return without_communicator(interface::mpi, native);
  if (unpassed) return serve_unpassed(*unpassed, call, interface::mpi, MPI_INFO_NULL, native);
  return serve_any(process::learner_of(call.comm), call, interface::mpi, MPI_INFO_NULL, native);
}

}  // namespace shoal
