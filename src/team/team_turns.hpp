// The turns of the exchanges on one communicator of Shoal's own.
#pragma once

#include <mpi.h>

#include "execute/tag_turns.hpp"
#include "transport/waiting.hpp"

namespace shoal {

// Turns whose numbers go on from those of all earlier communicators. MPIs give the identity of a freed communicator to
// a later one, and with it messages that were sent there and never received: these must not have the same tags.
class team_turns : public tag_turns {
 public:
  using tag_turns::tag_turns;
  ~team_turns();
  team_turns(const team_turns&) = delete;
  team_turns& operator=(const team_turns&) = delete;

  // To be called before the first turn. Collective over `among`.
  void begin(MPI_Comm among, waiting& waits);
};

}  // namespace shoal
