// One allgather call, in any of MPI's forms. Shoal serves it between two groups, or leaves it to the MPI's own.
#pragma once

#include <mpi.h>

#include "algorithms/algorithm.hpp"
#include "calls/native_call.hpp"
#include "execute/user_buffer.hpp"
#include "select/call_form.hpp"

namespace shoal {

// The arguments of MPI_Allgather or MPI_Allgatherv.
struct allgather_call {
  bool uniform;  // MPI_Allgather
  const void* send;
  std::int64_t send_count;
  MPI_Datatype send_type;
  void* recv;
  number_array recv_counts, recv_displacements;  // displacements in units of the type's extent
  MPI_Datatype recv_type;
  MPI_Comm comm;

  call_form form() const { return uniform ? call_form::equal : call_form::any_sizes; }
  static constexpr collective what = collective::allgather;
  std::string name() const { return name_of(to_string(what), form()); }
  // Whether the other group needs something from this rank, or this rank from that group, by this rank's arguments.
  bool is_awaited() const;
  // Whether the MPI accepts the arguments on this rank, as far as Shoal can tell.
  bool is_valid() const;
};

// Returns an MPI error code; errors have been raised on the communicator. `info` may name the algorithm for this call
// under shoal_allgather or shoal_allgatherv, the same on every rank. On an intra-communicator the MPI's own serves.
int allgather(const allgather_call& call, interface from, MPI_Info info, native_call native);

}  // namespace shoal
