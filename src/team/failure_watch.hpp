// Looks now and then whether ranks that wait for each other do so in vain.
#pragma once

#include "team/own_communicator.hpp"
#include "transport/mpi_transport.hpp"

namespace shoal {

class failure_watch {
 public:
  // Of messages of `own`; both stay the caller's.
  failure_watch(own_communicator& own, mpi_transport& over) : own_(own), over_(over) {}

  // While this rank waits: what it waits for may never come. The others know, or hear of it here.
  void look() {
    constexpr unsigned often = 256;
    if (lost_ || ++waits_ % often != 0) return;
    const int lasting = own_.find_failure();
    if (lasting == MPI_SUCCESS) return;
    lost_ = true;
    over_.give_up(lasting);
  }
  // Whether the ranks can exchange no more, since one has failed or the program has revoked its communicator.
  bool is_lost() const { return lost_; }

 private:
  own_communicator& own_;
  mpi_transport& over_;
  bool lost_ = false;
  unsigned waits_ = 0;
};

}  // namespace shoal
