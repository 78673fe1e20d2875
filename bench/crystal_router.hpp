// What shoal_exchange() is compared with: parcels sorted on their way, as programs route them by hand.
//
// The crystal router (Fox et al. 1988; in this form in Nek5000's gslib): the ranks are halved again and again, and each rank sends
// all that belongs into the other half to its mirror image there. So ceil(log2 P) messages of any length, in which every block
// travels up to as many times.
#pragma once

#include <mpi.h>

#include "execute/parcels.hpp"
#include "transport/waiting.hpp"

namespace shoal {

class crystal_router {
 public:
  // `comm` returns errors and stays the caller's, as does how to wait.
  crystal_router(MPI_Comm comm, waiting& wait);
  // `held` becomes what is for this rank. Collective.
  void deliver(parcels& held);

 private:
  void take_in(int from, int step, parcels& into);
  void wait_for(MPI_Request& sent);

  MPI_Comm comm_;
  waiting& wait_;
  int rank_ = 0, ranks_ = 0;
};

}  // namespace shoal
