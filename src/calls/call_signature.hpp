// By its signature a rank tells whether an exchange is, for Shoal, the same as the last one. For MPI_Alltoall and
// MPI_Allgather it holds the sizes that all ranks know; for the other functions only the form. It holds no datatypes,
// because a program may free one, and the next may get its handle.
#pragma once

#include <mpi.h>

#include <cstdint>

#include "calls/mpi_datatype.hpp"
#include "select/call_form.hpp"

namespace shoal {

struct call_signature {
  std::int64_t sent = 0, received = 0;  // bytes of a block
  call_form form{};
  bool in_place = false;  // then only `received` counts
  bool operator==(const call_signature&) const = default;
};

inline std::int64_t bytes_of_block(std::int64_t count, MPI_Datatype type) {
  return count > 0 ? count * bytes_of(type) : 0;
}

// From the arguments of MPI_Alltoall, -v and -w, and of MPI_Allgather and -v between two groups.
template <typename Count>
call_signature signature_of(const void* send, Count sent, MPI_Datatype send_type, void*, Count received,
                            MPI_Datatype recv_type, MPI_Comm) {
  const bool in_place = send == MPI_IN_PLACE;
  return {in_place ? 0 : bytes_of_block(sent, send_type), bytes_of_block(received, recv_type), call_form::equal,
          in_place};
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
template <typename Count, typename Displacement>
call_signature signature_of(const void*, Count, MPI_Datatype, void*, const Count*, const Displacement*, MPI_Datatype,
                            MPI_Comm) {
  return {.form = call_form::any_sizes};
}

}  // namespace shoal
