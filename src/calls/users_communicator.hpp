// A communicator of the program's, and what Shoal keeps for it.
#pragma once

#include <mpi.h>

#include <list>
#include <memory>
#include <string>

#include "calls/call_signature.hpp"
#include "calls/recent_call.h"
#include "learn/group_learner.hpp"
#include "learn/learner.hpp"
#include "team/sparse_ranks.hpp"

namespace shoal {

// Many a communicator sees only some calls. So this is small: a large one would lie between the pieces of memory that
// the MPI makes for each communicator, and slow down the MPI's own calls. What is needed later is made then.
struct users_communicator : shoal_other_repeats {
  users_communicator() : shoal_other_repeats{} {}

  MPI_Comm comm = MPI_COMM_NULL;
  std::list<users_communicator>::iterator place;  // in the list of all
  users_communicator* next = nullptr;             // the next one with the same recent_calls::place_of()
  std::unique_ptr<learner> of_ranks;              // null: an inter-communicator, or its calls are only counted
  int counted = 0;                                // calls that were counted while there was no learner
  call_signature like;                            // the last call among all ranks, or between two groups
  std::unique_ptr<learner> of_neighbors;          // null: no exchange among neighbours yet
  std::unique_ptr<group_learner> of_groups;       // null: not an inter-communicator
  std::shared_ptr<sparse_ranks> sparse;           // open requests keep it; null: not used yet
  std::shared_ptr<const void> life;               // goes with this object; null: nobody asked for it yet

  // Visits the learners that exist. Takes no memory, because it may have run out when the communicator is freed.
  template <typename Visit>
  void each_learner(Visit visit) const {
    for (learner* of : {of_ranks.get(), of_neighbors.get()})
      if (of) visit(*of);
  }
  // How many communicators of Shoal's own are open for this one.
  int open_communicators() const;
  // Tells them that the program frees this one.
  void leave_communicators();
};

}  // namespace shoal
