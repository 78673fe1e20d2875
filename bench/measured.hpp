// An exchange that is measured: what each rank has and gets, and how every variant does it.
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
  virtual int calls_until_settled() const = 0;  // of `auto`, which measures in the first ones
  // Where the time of the last exchange went; null: Shoal did not make it, or nobody asked (SHOAL_REPORT=phases).
  virtual const phase_clock* phases(MPI_Comm comm) const = 0;

  virtual void fill() = 0;                // what is sent, and a guard where it is received
  virtual std::string wrong() const = 0;  // empty, or what was received wrong
};

}  // namespace shoal::bench
