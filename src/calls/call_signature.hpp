// What tells, on this rank, whether an all-to-all is for Shoal the same as the last one: of MPI_Alltoall what all ranks know, and
// of others the form alone.
#pragma once

#include <mpi.h>

#include <cstdint>

#include "select/call_form.hpp"

namespace shoal {

struct call_signature {
  std::int64_t sent = 0, received = 0;
  MPI_Datatype send_type{}, recv_type{};
  call_form form{};
  bool in_place = false;
  bool operator==(const call_signature&) const = default;
};

// From the arguments of MPI_Alltoall, -v and -w.
template <typename Count>
call_signature signature_of(const void* send, Count sent, MPI_Datatype send_type, void*, Count received,
                            MPI_Datatype recv_type, MPI_Comm) {
  return {sent, received, send_type, recv_type, call_form::equal, send == MPI_IN_PLACE};
}
template <typename Count, typename Displacement>
call_signature signature_of(const void*, const Count*, const Displacement*, MPI_Datatype, void*, const Count*,
                            const Displacement*, MPI_Datatype, MPI_Comm) {
  return {.form = call_form::any_sizes};
}
template <typename Count, typename Displacement>
call_signature signature_of(const void*, const Count*, const Displacement*, const MPI_Datatype*, void*, const Count*,
                            const Displacement*, const MPI_Datatype*, MPI_Comm) {
  return {.form = call_form::any_types};
}

}  // namespace shoal
