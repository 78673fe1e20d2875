// Looks now and then whether ranks wait for each other in vain, because one has failed or the communicator was revoked.
#pragma once

#include "team/own_communicator.hpp"
#include "transport/mpi_transport.hpp"

namespace shoal {

class failure_watch {
 public:
  // Watches over the messages that `over` moves on `own`. Both stay the caller's.
  failure_watch(own_communicator& own, mpi_transport& over) : own_(own), over_(over) {}

  // Called again and again while this rank waits, because what it waits for may never come. If so, the other ranks know
  // that already or learn of it by this call, which revokes Shoal's communicator.
  void look() {
    constexpr unsigned often = 256;
    if (lost_ || ++waits_ % often != 0) return;
    const int lasting = own_.find_failure();
    if (lasting == MPI_SUCCESS) return;
    lost_ = true;
    over_.give_up(lasting);
  }
  // Whether the ranks can no longer exchange, because one has failed or the program has revoked its communicator.
  bool is_lost() const { return lost_; }

 private:
  own_communicator& own_;
  mpi_transport& over_;
  bool lost_ = false;
  unsigned waits_ = 0;
};

}  // namespace shoal
