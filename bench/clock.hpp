// A clock that all ranks share.
#pragma once

#include <mpi.h>

namespace shoal::bench {

// A clock common to all ranks of a communicator. Every rank measures its offset to rank 0 by ping-pong and keeps the
// offset of the fastest round trip. Ranks under one kernel share a clock, so their offset is zero.
class common_clock {
 public:
  explicit common_clock(MPI_Comm comm);
  double now() const;  // seconds
  // Sleeps until shortly before `when`, and then spins. `politely`: never spins, because ranks outnumber cores.
  void wait_until(double when, bool politely) const;

 private:
  double offset_ = 0, round_trip_ = 0;
};

}  // namespace shoal::bench
