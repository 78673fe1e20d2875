// A call in which ranks send each other blocks, in any of MPI's forms, as it is described once at the boundary. What is
// special about its collective stands in an exchange_kind. Nothing else needs to know which function of MPI it came
// from.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>
#include <vector>

#include "algorithms/algorithm.hpp"
#include "calls/mpi_datatype.hpp"
#include "execute/exchange.hpp"
#include "execute/user_buffer.hpp"
#include "select/call_form.hpp"
#include "team/mpi_neighbors.hpp"

namespace shoal {

class learner;
struct exchange_kind;

// The arguments of a call.
struct exchange_call {
  bool uniform;  // one count for all blocks
  const void* send;
  number_array send_counts, send_displacements;  // displacements in extents, or in bytes if types differ
  type_list send_type;
  void* recv;
  number_array recv_counts, recv_displacements;
  type_list recv_type;
  MPI_Comm comm;
  const exchange_kind* kind = nullptr;
  bool lacks_request = false;  // a nonblocking or persistent call with a null request pointer

  call_form form() const {
    return uniform ? call_form::equal : recv_type.differ() ? call_form::any_types : call_form::any_sizes;
  }
  collective what() const;
  std::string name() const { return name_of(to_string(what()), form()); }
  // Whether every rank exchanges with all.
  bool is_complete() const;
  // Whether all ranks know the sizes of all blocks from their own arguments.
  bool has_known_sizes() const { return uniform && is_complete(); }

  // What this rank sends, also with MPI_IN_PLACE, which only complete exchanges have.
  bool in_place() const { return send == MPI_IN_PLACE && is_complete(); }
  const number_array& sent_counts() const { return in_place() ? recv_counts : send_counts; }
  const type_list& sent_type() const { return in_place() ? recv_type : send_type; }
  // Whether the same counts and types describe both sides.
  bool are_sides_alike() const { return send_type.is(recv_type) && send_counts.is(recv_counts); }
  // Packed bytes; 0 if the type is wrong, which the MPI reports. `blocks`: how many this rank sends.
  std::int64_t bytes_to(int block) const;
  std::int64_t bytes_to_all(int blocks) const;
  // Whether this rank receives something from every other rank, and so cannot get ahead of any by a call.
  bool receives_from_all(int ranks) const;
  // Whether another rank may wait for this one here, because something goes from one to the other.
  bool is_awaited() const;
  // Whether the MPI accepts the arguments on this rank, as far as Shoal can tell.
  bool is_valid() const;
};

struct exchange_kind {
  collective what;
  bool is_complete;
  // This rank's blocks on a communicator. Local.
  block_peers (*peers)(MPI_Comm comm);
  // Whether the MPI looks at the counts and types of one side, and whether it accepts both sides together.
  bool (*is_looked_at)(const exchange_call& call, const user_buffer& side);
  bool (*do_sides_match)(const exchange_call& call, const payload& what);
  // The learner of a communicator; null if it has none, for the reason that why_unknown() returns.
  learner* (*learner_of)(MPI_Comm comm);
  const char* (*why_unknown)(MPI_Comm comm);
};

inline collective exchange_call::what() const { return kind->what; }
inline bool exchange_call::is_complete() const { return kind->is_complete; }

// Describe the blocks that a call receives, and those that it sends; `blocks` tells how many.
void describe_received(const exchange_call& call, int blocks, std::vector<element_type>& storage, payload& what);
void describe_sent(const exchange_call& call, int blocks, std::vector<element_type>& storage, payload& what);
// Whether the MPI accepts what was described, as far as Shoal can tell. `own`: as in arguments.hpp.
bool are_valid(const exchange_call& call, const payload& what, const block_peers& peers, MPI_Comm own);

}  // namespace shoal
