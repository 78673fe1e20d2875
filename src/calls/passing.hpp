// All-to-alls, and allgathers between two groups, whose algorithm nobody asked for. Most of them pass: they are only
// counted, and the MPI serves them. If ranks share a core, each call finds Shoal's code cold. So a call that passes
// runs little of Shoal's code, and its arguments are described only if the MPI refuses it. Calls that repeat the last
// one do not even come here: the preload counts them (recent_call.h).
#pragma once

#include <mpi.h>

#include <cstdint>
#include <optional>

#include "calls/allgather.hpp"
#include "calls/native_nonblocking.hpp"
#include "calls/recent_calls.hpp"
#include "calls/serve.hpp"
#include "calls/serve_exchange.hpp"
#include "team/boundary.hpp"

namespace shoal {

// The code of a call that passes and was carried out; none, if the call does not pass. `describe` makes an
// exchange_call of its arguments.
template <typename Describe, typename... All>
[[gnu::hot]] std::optional<int> passed(MPI_Comm comm, const call_signature& call, Describe describe, native_call native,
                                       All... all) {
  const auto carry_out = [&] {
    return carry_out_passed(comm, [&] { return process::learner_of(comm); }, describe, native);
  };
  if (recent_calls::pass_again(comm, call)) return returning_codes(comm, carry_out);
  if (recent_calls::is_alone(comm)) return returning_codes(comm, native);
  learner* const recent = recent_calls::learner_of(comm);
  if (!recent || !recent->passes(call.form, block_of(*recent, call))) return std::nullopt;
  recent_calls::begin_repeats(comm, call, recent->will_pass(), all...);
  return returning_codes(comm, carry_out);
}

// Carries out a call that passes, and was counted.
inline int carry_out_passed(const exchange_call& call, native_call native) {
  return carry_out_passed(call.comm, [&] { return call.kind->learner_of(call.comm); }, [&] { return call; }, native);
}
inline int carry_out_passed(const allgather_call& call, native_call native) {
  const auto counted_by = [&] { return process::get().group_learner_of(call.comm); };
  return carry_out_passed(call.comm, counted_by, [&] { return call; }, native);
}

// After a call that did not pass. `all`: its arguments.
template <typename... All>
void let_others_pass(MPI_Comm comm, const call_signature& call, All... all) {
  learner* const of = recent_calls::learner_of(comm);
  if (of) recent_calls::begin_repeats(comm, call, of->take_passes(), all...);
}

// `all`: the arguments.
template <typename Describe, typename... All>
[[gnu::hot]] int alltoall_of_mpi(MPI_Comm comm, Describe describe, native_call native, All... all) {
  const call_signature call = signature_of(all...);
  if (const std::optional<int> code = passed(comm, call, describe, native, all...)) return *code;
  learner* const recent = recent_calls::learner_of(comm);
  bool begins_to_count = false;
  const int code = returning_codes(comm, [&] {
    begins_to_count = !recent && comm != MPI_COMM_NULL && process::get().begins_to_count(comm, call);
    if (!begins_to_count) return serve_unpassed_of_mpi(recent, describe(), native);
    recent_calls::keep_arguments(comm, call, all...);
    return carry_out_passed(comm, [&] { return process::learner_of(comm); }, describe, native);
  });
  if (!begins_to_count) let_others_pass(comm, call, all...);
  return code;
}

// The same for a call of shoal.h. None passes if it names an algorithm, or if the MPI cannot move what is under way.
template <typename Describe, typename... All>
[[gnu::hot]] int alltoall_of_shoal(MPI_Comm comm, MPI_Info info, Describe describe, native_call native, All... all) {
  const call_signature call = signature_of(all...);
  if (info != MPI_INFO_NULL || !can_be_moved(call.form)) return serve_of_shoal(describe(), info, native);
  const auto moved = [&] { return moved_by_mpi(native); };
  if (const std::optional<int> code = passed(comm, call, describe, moved)) return *code;
  const int code = serve_of_shoal(describe(), MPI_INFO_NULL, native);
  let_others_pass(comm, call);
  return code;
}

// Does not throw, because the program may give what is no communicator. Then allgather() reports it.
inline bool is_in_one_group(MPI_Comm comm) {
  int is_between_two = 1;
  return comm != MPI_COMM_NULL && PMPI_Comm_test_inter(comm, &is_between_two) == MPI_SUCCESS && !is_between_two;
}

// The same for an allgather. Those in one group are not even counted.
template <typename Describe, typename... All>
int allgather_of_mpi(MPI_Comm comm, Describe describe, native_call native, All... all) {
  if (is_in_one_group(comm)) return returning_codes(comm, native);
  const call_signature call = signature_of(all...);
  if (recent_calls::pass_again_between_groups(comm, call))
    return returning_codes(comm, [&] { return carry_out_passed(describe(), native); });
  const int code = allgather(describe(), interface::mpi, MPI_INFO_NULL, native);
  group_learner* const of = recent_calls::group_learner_of(comm);
  if (of) recent_calls::begin_repeats_between_groups(comm, call, of->take_passes(), all...);
  return code;
}

}  // namespace shoal
