// How every call is served, whatever the collective: an algorithm is picked, or the MPI's own; it runs, is counted, and
// is compared with the MPI's own where the user wants that.
#pragma once

#include <mpi.h>

#include "calls/arguments.hpp"
#include "calls/process.hpp"
#include "learn/learner.hpp"
#include "team/boundary.hpp"
#include "team/error_handlers.hpp"
#include "team/fault_tolerance.hpp"

namespace shoal {

// Where somebody wants to know what it took, or that it is right. `compared`: as in carry_out().
template <typename State, typename Service, typename Decision>
int carry_out_watched(State& state, Service& service, call_form form, const Decision& chosen, native_call native,
                      double* compared) {
  auto& algorithm = *chosen.algorithm;
  const settings& set = process::get().set();
  const bool verified = set.verify && algorithm.has_schedule();
  const double begin = PMPI_Wtime();
  int code = MPI_SUCCESS;
  first_failure failed;  // kept until all ranks know, where they compare
  if (verified) failed.attempt([&] { service.run(algorithm); });
  else if (algorithm.has_schedule()) service.run(algorithm);
  else code = native();
  const double end = PMPI_Wtime();
  if (set.report != reporting::none)
    count(chosen, form, service.bytes_sent(), end - begin, algorithm.has_schedule() ? state.phases() : nullptr);
  if (verified && !service.agree().on_any_rank(static_cast<bool>(failed))) {
    failed.attempt([&] { service.verify(native); });
    service.agree().on_any_rank(static_cast<bool>(failed));  // or the next call would be timed with what others compare
  }
  if (compared) *compared = PMPI_Wtime() - end;
  raise(failed.what());
  return code;
}

// `compared`, where it is given, becomes the seconds that counting and comparing took.
template <typename State, typename Service, typename Decision>
int carry_out(State& state, Service& service, call_form form, const Decision& chosen, native_call native,
              double* compared = nullptr) {
  state.last = &chosen;
  const settings& set = process::get().set();
  if (set.verify || set.report != reporting::none)
    return carry_out_watched(state, service, form, chosen, native, compared);
  if (!chosen.algorithm->has_schedule()) return native();
  service.run(*chosen.algorithm);
  return MPI_SUCCESS;
}

// `state`: what Shoal keeps for the call's communicator. Throws mpi_error and others for returning_codes().
template <typename State, typename Service, typename Call>
int serve(State& state, Service& service, const Call& call, interface from, MPI_Info info, native_call native) {
  decltype(service.pick(info)) chosen = nullptr;
  try {
    chosen = service.pick(info);
  } catch (const std::invalid_argument& error) {  // the same on every rank
    return refused(call.comm, error.what(), from, native);
  }
  if (chosen) return carry_out(state, service, call.form(), *chosen, native);
  return process::get().leave(call, "device memory, or arguments that the MPI is to judge", native);
}

// Whether the MPI refused a call that returned `code`, before it took part. Where the code does not tell, the arguments do, which
// `describe` gives: Open MPI says that a block does not fit also of the one to this rank itself, which it looks at first.
template <typename Describe>
[[gnu::hot]] bool was_refused(int code, MPI_Comm comm, Describe describe) {
  if (code == MPI_SUCCESS) return error_handlers::may_hide_errors(comm) && !describe().is_valid();
  return is_of_arguments(code) || (is_of_class(code, MPI_ERR_TRUNCATE) && !describe().is_valid());
}

// Runs the MPI's own, and then `end`, told whether the MPI refused the call here. Where the program's error handler throws there
// is no code.
template <typename Describe, typename End>
[[gnu::hot]] int carry_out_natively(MPI_Comm comm, Describe describe, native_call native, End end) {
  int code = MPI_ERR_OTHER;
  bool has_thrown = true;
  const auto carried_out = [&] {
    code = native();
    has_thrown = false;
    return code;
  };
  return ended_by(carried_out, [&] { end(has_thrown ? !describe().is_valid() : was_refused(code, comm, describe)); });
}

// In a call that nobody needs to know of. `counted_by`: finds the learner that has counted it.
template <typename CountedBy, typename Describe>
[[gnu::hot]] int carry_out_passed(MPI_Comm comm, CountedBy counted_by, Describe describe, native_call native) {
  return carry_out_natively(comm, describe, native, [&](bool is_refused) {
    if (!is_refused || !describe().is_awaited()) return;
    if (learner* const of = counted_by()) of->take_back_passed();
  });
}

// What became of a call.
struct outcome {
  bool met_others = false;  // for certain, though the MPI may have refused it here
  bool gave_way = false;    // the candidate did, on every rank, to what needs less scratch memory
  double compared = 0;      // as in carry_out()
};

// Whether the MPI refuses a call here, without waiting for others, and they wait for this rank: they meet it in its next call.
template <typename Call>
[[gnu::cold, gnu::noinline]] bool is_refused_alone(const Call& call) {
  return !call.is_valid() && call.is_awaited();
}

// A call whose algorithm nobody asked for. `serve_as`: by a decision; it fills in the outcome. Every rank counts every call,
// whatever becomes of it, but what the MPI refuses here while others wait for this rank: they meet it in its next call. It is
// refused at once where ranks would wait for each other first.
template <typename Call, typename Serve>
int serve_learnt(learner& of, const Call& call, const call_size& size, interface from, native_call native,
                 Serve serve_as) {
  const bool is_linked = from == interface::shoal;
  if (of.meets_others_first(is_linked) && is_refused_alone(call)) return native();
  const learner::serving by = of.begin(size, is_linked);
  const double begin = by.is_timed ? PMPI_Wtime() : 0;
  outcome result;
  const auto end = [&](bool is_refused) {
    if (is_refused && !result.met_others && call.is_awaited()) return of.take_back(by);
    if (result.gave_way) return of.give_way(by);
    of.end(by, by.is_timed ? PMPI_Wtime() - begin - result.compared : 0);
  };
  const auto described = [&] { return call; };
  if (by.candidate == contest::native) return carry_out_natively(call.comm, described, native, end);
  bool is_refused = true;  // unless it returns
  const auto served = [&] {
    const int code = serve_as(by.chosen(), result);
    is_refused = !result.met_others && was_refused(code, call.comm, described);
    return code;
  };
  return ended_by(served, [&] { end(is_refused); });
}

// As it was settled, where this fits the call.
template <typename Service, typename Call>
int carry_out_settled(communicator& state, Service& service, const Call& call, const decision& settled,
                      native_call native, outcome& result) {
  const decision* chosen = nullptr;
  ended_by([&] { return chosen = service.fit(settled), 0; },
           [&] {
             result.met_others = chosen || service.has_asked();
             result.gave_way = chosen && chosen != &settled;
           });
  return chosen ? carry_out(state, service, call.form(), *chosen, native, &result.compared) : native();
}

// Whether ranks that have exchanged can do so no more. Until then a call costs no look at that: the MPI's own finds it.
inline bool is_lost(const learner& of, MPI_Comm comm) {
  return of.state() && (of.state()->all().is_lost() || is_revoked(comm));
}

}  // namespace shoal
