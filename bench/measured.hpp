// An exchange that is measured: what each rank sends and receives, and how every variant carries it out.
#pragma once

#include <mpi.h>

#include <string>

#include "execute/phases.hpp"

namespace shoal::bench {

class measured {
 public:
  virtual ~measured() = default;

  virtual bool takes(const std::string& variant) const = 0;
  virtual void make_ready(const std::string& variant, MPI_Comm comm) = 0;
  virtual void run(const std::string& variant, MPI_Comm comm) = 0;
  virtual int calls_until_settled() const = 0;  // how many calls `auto` needs to measure its candidates
  // Where the time of the last exchange went. Null if Shoal did not carry it out by a schedule, or if nobody asked for
  // it (SHOAL_REPORT=phases).
  virtual const phase_clock* phases(MPI_Comm comm) const = 0;

  virtual void fill() = 0;                // the send buffer with contents, the receive buffer with a guard
  virtual std::string wrong() const = 0;  // what was received wrong; empty if nothing
};

}  // namespace shoal::bench
