// A request of the MPI's own that ends when Shoal says so. So programs may pass it to every function of MPI that takes
// a request. It is a receive without bytes, of a message that this rank sends to itself.
#pragma once

#include <mpi.h>

namespace shoal {

class mpi_request {
 public:
  // A persistent request is started by start(), any number of times. Any other request is started at once.
  explicit mpi_request(bool is_persistent);
  ~mpi_request();
  mpi_request(const mpi_request&) = delete;
  mpi_request& operator=(const mpi_request&) = delete;

  MPI_Request handle() const { return handle_; }
  // The handle, for the program. If the program never got it, the request goes with this object.
  MPI_Request hand_out() {
    is_out_ = true;
    return handle_;
  }
  void start();
  // Ends the request; called once for each start. With an error, the MPI tells whoever waits for the request that
  // something went wrong, in its own words.
  void end(bool with_error);

 private:
  void take_back() noexcept;

  bool is_persistent_, is_out_ = false;
  int tag_;
  MPI_Request handle_ = MPI_REQUEST_NULL;
};

}  // namespace shoal
