// One all-to-all call, in any of MPI's forms: served by Shoal, or left to the MPI's own collective.
#pragma once

#include <mpi.h>

#include "algorithms/algorithm.hpp"
#include "calls/mpi_datatype.hpp"
#include "calls/native_call.hpp"
#include "execute/user_buffer.hpp"
#include "select/call_form.hpp"

namespace shoal {

// The arguments of MPI_Alltoall, MPI_Alltoallv or MPI_Alltoallw.
struct alltoall_call {
  bool uniform;  // MPI_Alltoall
  const void* send;
  number_array send_counts, send_displacements;  // displacements in extents, or in bytes if types differ
  type_list send_type;
  void* recv;
  number_array recv_counts, recv_displacements;
  type_list recv_type;
  MPI_Comm comm;
  bool lacks_request = false;  // a nonblocking or persistent call with a null request pointer

  call_form form() const {
    return uniform ? call_form::equal : recv_type.differ() ? call_form::any_types : call_form::any_sizes;
  }
  static constexpr collective what = collective::alltoall;
  std::string name() const { return name_of(to_string(what), form()); }

  // What this rank sends, also with MPI_IN_PLACE.
  bool in_place() const { return send == MPI_IN_PLACE; }
  const number_array& sent_counts() const { return in_place() ? recv_counts : send_counts; }
  const type_list& sent_type() const { return in_place() ? recv_type : send_type; }
  // Whether the same counts and types describe both sides.
  bool are_sides_alike() const { return send_type.is(recv_type) && send_counts.is(recv_counts); }
  // Packed bytes; 0 if the type is wrong, which the MPI reports.
  std::int64_t bytes_to(int destination) const;
  std::int64_t bytes_to_all(int ranks) const;
  // Whether this rank receives something from every other rank, and so cannot get ahead of any by a call.
  bool receives_from_all(int ranks) const;
  // Whether another rank may wait for this one here, because something goes from one to the other.
  bool is_awaited() const;
  // Whether the MPI accepts the arguments on this rank, as far as Shoal can tell.
  bool is_valid() const;
};

class learner;

// Serves a call of shoal.h. Returns an MPI error code; errors have been raised on the communicator. `info` may name the
// algorithm for this call under shoal_alltoall, shoal_alltoallv or shoal_alltoallw, the same on every rank.
int alltoall(const alltoall_call& call, MPI_Info info, native_call native);
// Serves a call of one of MPI's functions. Throws errors, for returning_codes(). `unpassed`: the learner of the
// communicator's ranks, if it is known already that the call does not pass there; else null.
int alltoall_of_mpi(learner* unpassed, const alltoall_call& call, native_call native);

}  // namespace shoal
