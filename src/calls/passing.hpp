// Most calls are the MPI's own, and only counted. Where ranks share a core each of them finds Shoal's code cold; so there is
// to be little of it, and such a call is described only where the MPI refuses it.
#pragma once

#include <mpi.h>

#include <cstdint>

#include "calls/alltoall.hpp"
#include "calls/serve.hpp"

namespace shoal {

// What all ranks know of a call, as its arguments show it. `bytes`: of a block of MPI_Alltoall; negative: not at a glance.
struct glance {
  call_form form;
  std::int64_t bytes;
};

template <typename Count>
glance glance_at(const void* send, Count sent, MPI_Datatype send_type, void*, Count received, MPI_Datatype recv_type,
                 MPI_Comm) {
  const bool alike = send != MPI_IN_PLACE && sent == received && send_type == recv_type;
  return {call_form::equal, alike ? received * bytes_of(recv_type) : -1};
}
template <typename Count, typename Displacement>
glance glance_at(const void*, const Count*, const Displacement*, MPI_Datatype, void*, const Count*, const Displacement*,
                 MPI_Datatype, MPI_Comm) {
  return {call_form::any_sizes, 0};
}
template <typename Count, typename Displacement>
glance glance_at(const void*, const Count*, const Displacement*, const MPI_Datatype*, void*, const Count*,
                 const Displacement*, const MPI_Datatype*, MPI_Comm) {
  return {call_form::any_types, 0};
}

// The learner of these ranks, if such a call passes there, and has been counted; else null.
template <typename... All>
learner* passed_by(MPI_Comm comm, All... all) {
  learner* const of = process::recent_learner_of(comm);
  if (!of) return nullptr;
  const glance seen = glance_at(all...);
  return seen.bytes >= 0 && of->passes(seen.form, seen.bytes) ? of : nullptr;
}

}  // namespace shoal
