// Times that mean the same on every rank.
#pragma once

#include <mpi.h>

namespace shoal::bench {

// A clock common to all ranks of a communicator: every rank measures its offset to rank 0 by ping-pong and keeps that
// of the fastest round trip. Ranks under one kernel share a clock, so their offset is zero.
class common_clock {
 public:
  explicit common_clock(MPI_Comm comm);
  double now() const;  // seconds
  // Sleeps while `when` is far and spins for the rest, but only sleeps when ranks outnumber cores.
  void wait_until(double when, bool politely) const;

 private:
  double offset_ = 0, round_trip_ = 0;
};

}  // namespace shoal::bench
