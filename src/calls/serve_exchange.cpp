#include "calls/serve_exchange.hpp"

#include "calls/exchange_service.hpp"
#include "calls/passing.hpp"
#include "calls/serve.hpp"
#include "team/fault_tolerance.hpp"
#include "team/nearest_rounding.hpp"

namespace shoal {

namespace {

// Who exchanges with whom, made on first use, which is collective. Null, on every rank, if Shoal cannot serve the call.
// `wrong` then says what the user should know, if anything. If the MPI's own is asked for by name in an exchange with
// all, the ranks only compare their settings.
std::shared_ptr<neighborhood> entered(learner& of, const exchange_call& call, interface from, bool by_natives,
                                      std::string& wrong) {
  const bool is_linked = from == interface::shoal;
  communicator* const state = by_natives && call.is_complete() ? of.enter_for_natives(is_linked) : of.enter(is_linked);
  neighborhood* const among = state ? of.make_among(call.form()) : nullptr;
  if (!among && (state || of.is_wrong())) wrong = of.why();
  return among ? among->shared() : nullptr;
}

// Serves a call, from the first one on, as settings, the communicator or `info` ask. Also if settings are wrong. If the
// MPI refuses this rank's first call, the others wait for this rank's next.
int serve_named(learner& of, const exchange_call& call, interface from, MPI_Info info, native_call native) {
  if (!of.state() && is_revoked(call.comm)) return native();
  if ((!of.was_entered() || !of.among(call.form())) && is_refused_alone(call)) return native();
  const bool by_natives = info == MPI_INFO_NULL && of.asks_for_natives(call.form());
  std::string wrong;
  const auto among = entered(of, call, from, by_natives, wrong);  // stays if a handler frees the communicator
  const auto left = [&] { return process::get().leave(call, wrong.empty() ? of.why() : "see the warning", native); };
  if (!among) return refused(call.comm, wrong, from, left);
  const std::scoped_lock alone(among->over().all().lock());
  exchange_service s(*among, call, among->over().blocks());
  const int code = serve(s, call, from, info, native);
  if (by_natives && process::get().keeps(call.comm)) of.let_named_pass();
  return code;
}

// Called before a call is served, so that every rank counts the call, whatever becomes of it. All record, or none.
void record(learner& of, const exchange_call& call, interface from) {
  if (process::get().set().record.empty() || !call.is_complete()) return;
  if (of.enter(from == interface::shoal) && traffic_record::is_of(call.comm)) process::get().traffic().add(call);
}

std::int64_t block_of(const learner& of, const exchange_call& call) {
  return block_of(of, signature_of(call.send, call.send_counts[0], call.send_type[0], call.recv, call.recv_counts[0],
                                   call.recv_type[0], call.comm));
}

[[gnu::hot]] int serve_settled(learner& of, const exchange_call& call, interface from, native_call native) {
  const int blocks = of.blocks();
  call_size size{call.form(), call.has_known_sizes() ? block_of(of, call) : call.bytes_to_all(blocks),
                 call.receives_from_all(blocks)};
  if (call.in_place()) size.copied = size.bytes * (call.uniform ? blocks : 1);
  return serve_learnt(of, call, size, from, native, [&](const decision& settled, outcome& result) {
    neighborhood& among = *of.among(call.form());
    const auto stays = error_handlers::were_made() ? among.shared() : nullptr;  // a handler may free the communicator
    const std::scoped_lock alone(among.over().all().lock());
    exchange_service s(among, call, among.over().blocks());
    return carry_out_settled(s, call, settled, native, result);
  });
}

int serve_unpassed(learner& of, const exchange_call& call, interface from, MPI_Info info, native_call native) {
  if (of.is_idle() && info == MPI_INFO_NULL) return native();
  const nearest_rounding as_on_others;
  const auto by_mpi = [&] { return as_on_others.as_of_program(native); };
  of.take_passes();  // forgets what a call before this one allowed
  if (is_lost(of, call.comm)) return by_mpi();
  record(of, call, from);
  if (of.names_algorithm(call.form(), info)) return serve_named(of, call, from, info, by_mpi);
  return serve_settled(of, call, from, by_mpi);
}

// Why a communicator has no learner. Asked for only by the report.
struct unknown {
  const exchange_call& call;
  explicit operator std::string() const { return call.kind->why_unknown(call.comm); }
};

// `of`: null if the communicator has no learner.
int serve_any(learner* of, const exchange_call& call, interface from, MPI_Info info, native_call native) {
  if (!of) return process::get().leave(call, unknown{call}, native);
  if (info == MPI_INFO_NULL && of->passes(call.form(), call.has_known_sizes() ? block_of(*of, call) : 0)) {
    of->take_passes();
    return carry_out_passed(call, native);
  }
  return serve_unpassed(*of, call, from, info, native);
}

}  // namespace

int serve_unpassed_of_mpi(learner* recent, const exchange_call& call, native_call native) {
  if (call.comm == MPI_COMM_NULL) return without_communicator(interface::mpi, native);
  if (recent) return serve_unpassed(*recent, call, interface::mpi, MPI_INFO_NULL, native);
  return serve_any(call.kind->learner_of(call.comm), call, interface::mpi, MPI_INFO_NULL, native);
}

int serve_of_shoal(const exchange_call& call, MPI_Info info, native_call blocking) {
  learner* of = nullptr;
  const auto native = [&] { return natively(call, of ? of->waits_by() : wait_mode::yield, blocking); };
  return returning_codes(call.comm, [&] {
    if (call.comm == MPI_COMM_NULL) return without_communicator(interface::shoal, native);
    of = call.kind->learner_of(call.comm);
    return serve_any(of, call, interface::shoal, info, native);
  });
}

int serve_along_edges(const exchange_call& call, interface from, native_call native) {
  const MPI_Comm comm = call.comm;
  return returning_codes(comm, [&] {
    if (comm == MPI_COMM_NULL) return without_communicator(from, native);
    if (recent_calls::pass_again_among_neighbors(comm, call.form())) return carry_out_passed(call, native);
    learner* const of = call.kind->learner_of(comm);
    if (of && of->passes(call.form(), 0)) {
      recent_calls::begin_repeats_among_neighbors(comm, call.form(), of->will_pass());
      return carry_out_passed(call, native);
    }
    const int code = serve_any(of, call, from, MPI_INFO_NULL, native);
    if (learner* const still = recent_calls::neighbor_learner_of(comm))
      recent_calls::begin_repeats_among_neighbors(comm, call.form(), still->take_passes());
    return code;
  });
}

}  // namespace shoal
