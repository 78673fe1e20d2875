// A rival of shoal_exchange(): each parcel goes to its destination in a message of its own, which the receiver finds by
// probing. Programs do this by hand.
//
// NBX (Hoefler, Siebert, Lumsdaine 2010): all sends are synchronous. When all messages of a rank have been received,
// the rank begins a nonblocking reduction and goes on receiving. After the reduction no message is under way.
#pragma once

#include <mpi.h>

#include <vector>

#include "execute/parcels.hpp"
#include "transport/waiting.hpp"

namespace shoal {

class nbx {
 public:
  // `comm` must return errors. `comm` and `wait` stay the caller's, and must outlive this object. Deliveries use two
  // tags by turns, `tag` and the next: a rank may begin a delivery while another has not seen the end of the last one.
  nbx(MPI_Comm comm, waiting& wait, int tag) : comm_(comm), wait_(wait), tag_(tag) {}

  // Delivers the parcels in `held`, and replaces them by the parcels for this rank. Collective. Returns whether any
  // rank passed `failed`.
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
