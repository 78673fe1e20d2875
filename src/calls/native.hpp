// The arguments of MPI's collectives as Shoal describes them, and the MPI's own collectives with 64-bit counts.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

#include "calls/allgather.hpp"
#include "calls/exchange_call.hpp"
#include "transport/mpi_arguments.hpp"

namespace shoal {

// How many ranks a rank exchanges with on a communicator. 0 for MPI_COMM_NULL, which the MPI reports.
int peers_of(MPI_Comm comm);
// Whether a count or displacement fits in an int. If one does not, and the MPI has no function that takes it,
// count_too_large() raises the error.
bool fits_int(std::int64_t value);
int count_too_large(MPI_Comm comm);

// The arguments of MPI_Alltoall, as those of the general call. Whoever calls this, or the functions below, sets the kind.
template <typename Count>
exchange_call uniform_call(const void* send, Count send_count, MPI_Datatype send_type, void* recv, Count recv_count,
                           MPI_Datatype recv_type, MPI_Comm comm) {
  return {true,      send, number_array::linear(send_count, 0), number_array::linear(0, send_count),
          send_type, recv, number_array::linear(recv_count, 0), number_array::linear(0, recv_count),
          recv_type, comm};
}

// The arguments of MPI_Alltoallv.
template <typename Count, typename Displacement>
exchange_call varying_call(const void* send, const Count* send_counts, const Displacement* send_displacements,
                           MPI_Datatype send_type, void* recv, const Count* recv_counts,
                           const Displacement* recv_displacements, MPI_Datatype recv_type, MPI_Comm comm) {
  return {false,     send, number_array(send_counts), number_array(send_displacements),
          send_type, recv, number_array(recv_counts), number_array(recv_displacements),
          recv_type, comm};
}

// The arguments of MPI_Alltoallw.
template <typename Count, typename Displacement>
exchange_call typed_call(const void* send, const Count* send_counts, const Displacement* send_displacements,
                         const MPI_Datatype* send_types, void* recv, const Count* recv_counts,
                         const Displacement* recv_displacements, const MPI_Datatype* recv_types, MPI_Comm comm) {
  return {false,
          send,
          number_array(send_counts),
          number_array(send_displacements),
          type_list(send_types),
          recv,
          number_array(recv_counts),
          number_array(recv_displacements),
          type_list(recv_types),
          comm};
}

// The arguments of MPI_Allgather and MPI_Allgatherv.
template <typename Count>
allgather_call gather_call(const void* send, Count send_count, MPI_Datatype send_type, void* recv, Count recv_count,
                           MPI_Datatype recv_type, MPI_Comm comm) {
  return {true,
          send,
          send_count,
          send_type,
          recv,
          number_array::linear(recv_count, 0),
          number_array::linear(0, recv_count),
          recv_type,
          comm};
}
template <typename Count, typename Displacement>
allgather_call gather_call(const void* send, Count send_count, MPI_Datatype send_type, void* recv,
                           const Count* recv_counts, const Displacement* displacements, MPI_Datatype recv_type,
                           MPI_Comm comm) {
  return {false,     send, send_count, send_type, recv, number_array(recv_counts), number_array(displacements),
          recv_type, comm};
}

// The MPI's own collectives with 64-bit counts. If the MPI lacks them, the arguments are narrowed to ints; if they do
// not fit, the error is MPI_ERR_COUNT.
int native_alltoall_c(SHOAL_EQUAL(MPI_Count, MPI_Aint));
int native_alltoallv_c(SHOAL_SIZED(MPI_Count, MPI_Aint));
int native_alltoallw_c(SHOAL_TYPED(MPI_Count, MPI_Aint));
int native_allgather_c(SHOAL_EQUAL(MPI_Count, MPI_Aint));
int native_allgatherv_c(SHOAL_GATHERED(MPI_Count, MPI_Aint));

}  // namespace shoal
