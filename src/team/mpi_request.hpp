// A request of the MPI's own that ends when Shoal says so: so programs may pass it to every function of MPI that takes one.
// It is a receive without bytes of a message that this rank sends itself.
#pragma once

#include <mpi.h>

namespace shoal {

class mpi_request {
 public:
  // A persistent one is started by start(), any number of times; any other at once.
  explicit mpi_request(bool is_persistent);
  ~mpi_request();
  mpi_request(const mpi_request&) = delete;
  mpi_request& operator=(const mpi_request&) = delete;

  MPI_Request handle() const { return handle_; }
  void start();
  // Once for each start. With an error MPI tells whoever waits that something went wrong, in its own words.
  void end(bool with_error);

  // Of one that was not started, or is to be never heard of.
  void take_back();

 private:
  bool is_persistent_;
  int tag_;
  MPI_Request handle_ = MPI_REQUEST_NULL;
};

}  // namespace shoal
