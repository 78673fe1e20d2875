// A communicator of the program's, and what hangs on it.
#pragma once

#include <mpi.h>

#include <list>
#include <memory>
#include <string>

#include "learn/intercommunicator.hpp"
#include "learn/learner.hpp"
#include "learn/neighborhood.hpp"
#include "select/group_investment.hpp"
#include "team/sparse_ranks.hpp"
#include "team/usage.hpp"

namespace shoal {

// What an inter-communicator has besides.
struct users_groups {
  int ranks = 0;                             // of both
  bool are_unserved = true;                  // nobody asked for them to be served yet
  usage cold[2];                             // calls before that
  group_investment worth;                    // whether they are to be served though nobody asked
  std::shared_ptr<intercommunicator> state;  // open requests keep it
  std::string why = "an inter-communicator";
  bool is_wrong = false;  // the settings are, so that the user should know
};

// Many a one sees some calls alone: it is kept small, apart from what the MPI made for it, and what it needs later is made then.
struct users_communicator {
  MPI_Comm comm = MPI_COMM_NULL;
  std::list<users_communicator>::iterator place;     // among all
  users_communicator* next = nullptr;                // of those that are found together
  std::unique_ptr<learner> of_ranks;                 // null: an inter-communicator, or its calls are only counted
  int counted = 0;                                   // calls of which the learner has not heard, as there was none
  std::unique_ptr<learner> of_neighbors;             // null: none exchanged so yet
  std::unique_ptr<users_groups> groups;              // null: no inter-communicator
  by_form<std::shared_ptr<neighborhood>> neighbors;  // asked for; open requests keep it; null: none exchanged so yet
  std::shared_ptr<sparse_ranks> sparse;              // the same

  // Those that there are. Memory may have run out where the communicator is freed, so none is taken.
  template <typename Visit>
  void each_learner(Visit visit) const {
    for (learner* of : {of_ranks.get(), of_neighbors.get()})
      if (of) visit(*of);
  }
  // Those of Shoal's that are open, and what is done about them where the user's is freed.
  int open_communicators() const;
  void leave_communicators();
};

}  // namespace shoal
