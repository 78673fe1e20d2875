// A rival of shoal_exchange(): parcels that are sorted on their way, as programs route them by hand.
//
// The crystal router (Fox et al. 1988; in this form in Nek5000's gslib) halves the ranks again and again. Each rank
// sends all parcels for the other half to its mirror image there. So a rank sends ceil(log2 P) messages of any length,
// and a block travels at most that many times.
#pragma once

#include <mpi.h>

#include "execute/parcels.hpp"
#include "transport/waiting.hpp"

namespace shoal {

class crystal_router {
 public:
  // `comm` must return errors. `comm` and `wait` stay the caller's, and must outlive the router.
  crystal_router(MPI_Comm comm, waiting& wait);
  // Delivers the parcels in `held`, and replaces them by the parcels for this rank. Collective.
  void deliver(parcels& held);

 private:
  void take_in(int from, int step, parcels& into);
  void wait_for(MPI_Request& sent);

  MPI_Comm comm_;
  waiting& wait_;
  int rank_ = 0, ranks_ = 0;
};

}  // namespace shoal
