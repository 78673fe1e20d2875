// What shoal_exchange() is compared with: parcels to their destinations in messages of their own, which their receivers find by
// probing, as programs do it by hand.
//
// NBX (Hoefler, Siebert, Lumsdaine 2010): messages are sent synchronously. A rank whose messages have all been received begins a
// nonblocking reduction, and receives on; once that has ended, no message is under way to anyone.
#pragma once

#include <mpi.h>

#include <vector>

#include "execute/parcels.hpp"
#include "transport/waiting.hpp"

namespace shoal {

class nbx {
 public:
  // `comm` returns errors and stays the caller's, as does how to wait. It uses two tags from `tag` on: a rank may begin the next
  // delivery while another has not seen the end of this one.
  nbx(MPI_Comm comm, waiting& wait, int tag) : comm_(comm), wait_(wait), tag_(tag) {}

  // As parcel_router::deliver().
  bool deliver(parcels& held, bool failed);

 private:
  void send_all(const parcels& held, int tag, parcels& here);
  bool take_in(int tag, parcels& here);

  MPI_Comm comm_;
  waiting& wait_;
  int tag_, deliveries_ = 0;
  std::vector<MPI_Request> sends_;
};

}  // namespace shoal
