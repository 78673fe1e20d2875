// All-to-alls of MPI's own functions. Most are only counted, and the MPI serves them. Where ranks share a core each call finds
// Shoal's code cold: so such a call goes through little of it, and is described only where the MPI refuses it.
#pragma once

#include <mpi.h>

#include <cstdint>

#include "calls/alltoall.hpp"
#include "calls/serve.hpp"
#include "team/boundary.hpp"

namespace shoal {

// The bytes of a block of MPI_Alltoall, by which all ranks know the exchange. One rank alone may give a wrong count, and must
// not take another way for it: of two sizes that differ the wrong one is hardly ever the last exchange's.
inline std::int64_t block_of(const learner& of, bool in_place, std::int64_t sent, MPI_Datatype send_type,
                             std::int64_t received, MPI_Datatype recv_type) {
  const auto bytes = [](std::int64_t count, MPI_Datatype type) { return count > 0 ? count * bytes_of(type) : 0; };
  const std::int64_t arriving = bytes(received, recv_type);
  if (in_place || (sent == received && send_type == recv_type)) return arriving;
  return of.is_as_last(arriving) ? arriving : bytes(sent, send_type);
}

// Whether a call passes, by what all ranks know of it; it is counted then. One of MPI_Alltoall, -v and -w.
template <typename Count>
bool passes(learner& of, const void* send, Count sent, MPI_Datatype send_type, void*, Count received,
            MPI_Datatype recv_type, MPI_Comm) {
  return of.passes(call_form::equal, block_of(of, send == MPI_IN_PLACE, sent, send_type, received, recv_type));
}
template <typename Count, typename Displacement>
bool passes(learner& of, const void*, const Count*, const Displacement*, MPI_Datatype, void*, const Count*,
            const Displacement*, MPI_Datatype, MPI_Comm) {
  return of.passes(call_form::any_sizes, 0);
}
template <typename Count, typename Displacement>
bool passes(learner& of, const void*, const Count*, const Displacement*, const MPI_Datatype*, void*, const Count*,
            const Displacement*, const MPI_Datatype*, MPI_Comm) {
  return of.passes(call_form::any_types, 0);
}

// `all`: the arguments, of which `describe` makes a call.
template <typename Describe, typename... All>
[[gnu::hot]] int alltoall_of_mpi(MPI_Comm comm, Describe describe, native_call native, All... all) {
  const auto carry_out = [&] { return carry_out_passed([&] { return process::learner_of(comm); }, describe, native); };
  if (process::passes_again(comm, signature_of(all...))) return returning_codes(comm, carry_out);
  if (process::is_alone(comm)) return returning_codes(comm, native);
  learner* const recent = process::recent_learner_of(comm);
  if (recent && passes(*recent, all...)) {
    process::begin_repeats(comm, signature_of(all...), recent->will_pass());
    return returning_codes(comm, carry_out);
  }
  const int code = alltoall_of_mpi(recent, describe(), native);
  learner* const of = process::recent_learner_of(comm);
  if (of) process::begin_repeats(comm, signature_of(all...), of->may_pass());
  return code;
}

}  // namespace shoal
