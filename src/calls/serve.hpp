// How every call is served, whatever the collective: an algorithm or the MPI's own collective is picked and runs. If
// the user wants it, the call is counted, and its result compared with that of the MPI's own.
#pragma once

#include <mpi.h>

#include "calls/arguments.hpp"
#include "calls/process.hpp"
#include "learn/learner.hpp"
#include "team/boundary.hpp"
#include "team/error_handlers.hpp"
#include "team/fault_tolerance.hpp"

namespace shoal {

// carry_out() for a user who wants to know what calls take, or that their results are right. `compared`: as there.
template <typename Service, typename Decision>
int carry_out_watched(Service& service, call_form form, const Decision& chosen, native_call native, double* compared) {
  auto& algorithm = *chosen.algorithm;
  const settings& set = process::get().set();
  const bool verified = set.verify && algorithm.has_schedule();
  const double begin = PMPI_Wtime();
  int code = MPI_SUCCESS;
  first_failure failed;  // if the ranks compare, kept until all know of it
  if (verified) failed.attempt([&] { service.run(algorithm); });
  else if (algorithm.has_schedule()) service.run(algorithm);
  else code = native();
  const double end = PMPI_Wtime();
  if (set.report != reporting::none)
    count(chosen, form, service.bytes_sent(), end - begin,
          algorithm.has_schedule() ? service.kept().phases() : nullptr);
  if (verified && !service.agree().on_any_rank(static_cast<bool>(failed))) {
    failed.attempt([&] { service.verify(native); });
    service.agree().on_any_rank(static_cast<bool>(failed));  // or others' comparing would count in the next call
  }
  if (compared) *compared = PMPI_Wtime() - end;
  raise(failed.what());
  return code;
}

// `compared`, if given, becomes the seconds that counting and comparing took.
template <typename Service, typename Decision>
int carry_out(Service& service, call_form form, const Decision& chosen, native_call native,
              double* compared = nullptr) {
  service.kept().last = &chosen;
  const settings& set = process::get().set();
  if (set.verify || set.report != reporting::none) return carry_out_watched(service, form, chosen, native, compared);
  if (!chosen.algorithm->has_schedule()) return native();
  service.run(*chosen.algorithm);
  return MPI_SUCCESS;
}

// Why the MPI's own collective serves a call for which a service picks nothing. Only the report tells.
inline const char* why_nothing_is_picked() {
  return process::get().set().max_temp ? "SHOAL_MAX_TEMP, device memory, or arguments that only the MPI can check"
                                       : "device memory, or arguments that only the MPI can check";
}

// Throws mpi_error and other errors, for returning_codes().
template <typename Service, typename Call>
int serve(Service& service, const Call& call, interface from, MPI_Info info, native_call native) {
  decltype(service.pick(info)) chosen = nullptr;
  try {
    chosen = service.pick(info);
  } catch (const std::invalid_argument& error) {  // the same on every rank
    return refused(call.comm, error.what(), from, native);
  }
  if (chosen) return carry_out(service, call.form(), *chosen, native);
  return process::get().leave(call, why_nothing_is_picked(), native);
}

// Whether the MPI refused a call, which returned `code`, before it took part in the call. If the code does not tell,
// the arguments do, which `describe` returns: Open MPI reports MPI_ERR_TRUNCATE also for a block from this rank to
// itself, which it looks at before it takes part.
template <typename Describe>
[[gnu::hot]] bool was_refused(int code, MPI_Comm comm, Describe describe) {
  if (code == MPI_SUCCESS)
    return error_handlers::may_hide_errors() && !describe().is_valid() && error_handlers::may_hide_errors(comm);
  return is_of_arguments(code) || (is_of_class(code, MPI_ERR_TRUNCATE) && !describe().is_valid());
}

// Whether the program's error handler has freed the communicator in a call of the MPI's own, which returned `code`.
[[gnu::hot]] inline bool was_freed(int code, MPI_Comm comm) {
  return (code != MPI_SUCCESS || error_handlers::may_hide_errors()) && !process::get().keeps(comm);
}

// Runs the MPI's own collective, and then `end`, which it tells whether the MPI refused the call here. If the program's
// error handler throws, there is no code, so the arguments decide. If the handler has freed the communicator, nothing is
// left to be ended.
template <typename Describe, typename End>
[[gnu::hot]] int carry_out_natively(MPI_Comm comm, Describe describe, native_call native, End end) {
  int code = MPI_ERR_OTHER;
  bool has_thrown = true;
  const auto carried_out = [&] {
    code = native();
    has_thrown = false;
    return code;
  };
  return ended_by(carried_out, [&] {
    if (was_freed(code, comm)) return;
    end(has_thrown ? !describe().is_valid() : was_refused(code, comm, describe));
  });
}

// The same for a call that passes: nobody needs to know more of it. `counted_by` finds the learner that has counted it.
template <typename CountedBy, typename Describe>
[[gnu::hot]] int carry_out_passed(MPI_Comm comm, CountedBy counted_by, Describe describe, native_call native) {
  return carry_out_natively(comm, describe, native, [&](bool is_refused) {
    if (!is_refused || !describe().is_awaited()) return;
    if (auto* const of = counted_by()) of->take_back_passed();
  });
}

// What became of a call.
struct outcome {
  bool met_others = false;  // this rank certainly met others, even if the MPI seems to have refused the call
  bool gave_way = false;    // on every rank the candidate gave way to what needs less scratch memory
  double compared = 0;      // as in carry_out()
};

// Whether the MPI refuses the call on this rank, without waiting for others, while others wait for this rank. The
// others then meet this rank in its next call.
template <typename Call>
[[gnu::cold, gnu::noinline]] bool is_refused_alone(const Call& call) {
  return !call.is_valid() && call.is_awaited();
}

// Serves a call whose algorithm nobody asked for. `serve_as` serves it by a decision, and fills in the outcome. Every
// rank counts every call, whatever becomes of it, except one that the MPI refuses here while others wait for this rank:
// the others meet this rank in its next call. Such a call is refused at once, and not counted meanwhile, if the ranks
// would otherwise wait for each other first, or if the program's error handler may make calls of its own.
template <typename Call, typename Serve>
int serve_learnt(learner& of, const Call& call, const call_size& size, interface from, native_call native,
                 Serve serve_as) {
  const bool is_linked = from == interface::shoal;
  const bool must_know = error_handlers::were_made() || of.meets_others_first(is_linked);
  if (must_know && is_refused_alone(call)) return native();
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
  bool is_refused = true;  // unless serve_as() returns
  const auto served = [&] {
    const int code = serve_as(by.chosen(), result);
    is_refused = !result.met_others && was_refused(code, call.comm, described);
    return code;
  };
  return ended_by(served, [&] { end(is_refused); });
}

// Serves the call as was settled, if this fits the call, or else by the MPI's own collective.
template <typename Service, typename Call>
int carry_out_settled(Service& service, const Call& call, const decision& settled, native_call native,
                      outcome& result) {
  const decision* chosen = nullptr;
  ended_by([&] { return chosen = service.fit(settled), 0; },
           [&] {
             result.met_others = chosen || service.meets_others();
             result.gave_way = chosen && chosen != &settled;
           });
  return chosen ? carry_out(service, call.form(), *chosen, native, &result.compared) : native();
}

// Whether ranks for which Shoal has made something can exchange no more. As long as it has made nothing, calls need not
// look: the MPI's own collective finds out.
inline bool is_lost(const learner& of, MPI_Comm comm) {
  return of.state() && (of.state()->all().is_lost() || is_revoked(comm));
}

}  // namespace shoal
