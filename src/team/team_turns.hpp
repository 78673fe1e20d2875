// The turns of the exchanges on one communicator of Shoal's own.
#pragma once

#include <mpi.h>

#include "execute/tag_turns.hpp"
#include "transport/waiting.hpp"

namespace shoal {

// Numbered behind those of all communicators before: MPIs give the identity of one that is freed to the next, and with it
// what was sent there and never received.
class team_turns : public tag_turns {
 public:
  using tag_turns::tag_turns;
  ~team_turns();
  team_turns(const team_turns&) = delete;
  team_turns& operator=(const team_turns&) = delete;

  // Before the first turn; collective over `among`.
  void begin(MPI_Comm among, waiting& waits);
};

}  // namespace shoal
