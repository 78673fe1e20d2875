// All-to-alls that a program calls by MPI's names. Most of them pass: they are only counted, and the MPI serves them.
// If ranks share a core, each call finds Shoal's code cold. So a call that passes runs little of Shoal's code, and its
// arguments are described only if the MPI refuses it.
#pragma once

#include <mpi.h>

#include <cstdint>

#include "calls/alltoall.hpp"
#include "calls/recent_calls.hpp"
#include "calls/serve.hpp"
#include "team/boundary.hpp"

namespace shoal {

// The bytes of a block of MPI_Alltoall, by which all ranks know the exchange. A rank that gives one wrong count must
// still go the same way as the others. Its two sizes differ, and the wrong one is hardly ever the last exchange's.
inline std::int64_t block_of(const learner& of, const call_signature& call) {
  return call.in_place || of.is_as_last(call.received) ? call.received : call.sent;
}

// `all`: the arguments, from which `describe` makes an alltoall_call.
template <typename Describe, typename... All>
[[gnu::hot]] int alltoall_of_mpi(MPI_Comm comm, Describe describe, native_call native, All... all) {
  const auto carry_out = [&] {
    return carry_out_passed(comm, [&] { return process::learner_of(comm); }, describe, native);
  };
  const call_signature call = signature_of(all...);
  if (recent_calls::pass_again(comm, call)) return returning_codes(comm, carry_out);
  if (recent_calls::is_alone(comm)) return returning_codes(comm, native);
  learner* const recent = recent_calls::learner_of(comm);
  if (recent && recent->passes(call.form, block_of(*recent, call))) {
    recent_calls::begin_repeats(comm, call, recent->will_pass());
    return returning_codes(comm, carry_out);
  }
  bool begins_to_count = false;
  const int code = returning_codes(comm, [&] {
    begins_to_count = !recent && comm != MPI_COMM_NULL && process::get().begins_to_count(comm, call);
    return begins_to_count ? carry_out() : alltoall_of_mpi(recent, describe(), native);
  });
  if (begins_to_count) return code;
  learner* const of = recent_calls::learner_of(comm);
  if (of) recent_calls::begin_repeats(comm, call, of->take_passes());
  return code;
}

}  // namespace shoal
