// An exchange that is measured: what each rank has and gets, and how every variant does it.
#pragma once

#include <mpi.h>

#include <string>

namespace shoal::bench {

class measured {
 public:
  virtual ~measured() = default;

  virtual bool takes(const std::string& variant) const = 0;
  virtual void make_ready(const std::string& variant, MPI_Comm comm) = 0;
  virtual void run(const std::string& variant, MPI_Comm comm) = 0;
  virtual int calls_until_settled() const = 0;  // of `auto`, which measures in the first ones

  virtual void fill() = 0;                // what is sent, and a guard where it is received
  virtual std::string wrong() const = 0;  // empty, or what was received wrong
};

}  // namespace shoal::bench
