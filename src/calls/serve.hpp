// How every call is served, whatever the collective: an algorithm is picked, or the MPI's own; it runs, is counted, and
// is compared with the MPI's own where the user wants that.
#pragma once

#include <mpi.h>

#include "calls/process.hpp"
#include "team/boundary.hpp"

namespace shoal {

// `compared`, where it is given, becomes the seconds that comparing took.
template <typename State, typename Service, typename Decision>
int carry_out(State& state, Service& service, call_form form, const Decision& chosen, native_call native,
              double* compared = nullptr) {
  const settings& set = process::get().set();
  auto& how = *chosen.how;
  const bool ours = how.has_schedule();
  state.last = &chosen;
  const bool told = set.report != reporting::none;
  if (!ours && !told) return native();
  const double begin = told || set.verify ? PMPI_Wtime() : 0;
  int code = MPI_SUCCESS;
  first_failure failed;  // kept until all ranks know, where they compare
  if (ours && set.verify) failed.attempt([&] { service.run(how); });
  else if (ours) service.run(how);
  else code = native();
  const double end = told || set.verify ? PMPI_Wtime() : 0;
  if (told) count(chosen, form, service.bytes_sent(), end - begin, ours ? state.phases() : nullptr);
  if (ours && set.verify && !service.agree().on_any_rank(static_cast<bool>(failed))) service.verify(native);
  if (compared && set.verify) *compared = PMPI_Wtime() - end;
  raise(failed.what());
  return code;
}

// `state`: what Shoal keeps for the call's communicator. Throws mpi_error and others for returning_codes().
template <typename State, typename Service, typename Call>
int serve(State& state, Service& service, const Call& call, manners how, MPI_Info info, native_call native) {
  decltype(service.pick(info)) chosen = nullptr;
  try {
    chosen = service.pick(info);
  } catch (const std::invalid_argument& error) {  // the same on every rank
    return refused(call.comm, error.what(), how, native);
  }
  if (chosen) return carry_out(state, service, call.form(), *chosen, native);
  return process::get().leave(call.name(), "device memory, or arguments that the MPI is to judge", native);
}

}  // namespace shoal
