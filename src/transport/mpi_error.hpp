// MPI error codes as exceptions. They travel inside Shoal, and become codes again at the C boundary.
#pragma once

#include <mpi.h>

#include <stdexcept>

namespace shoal {

class mpi_error : public std::runtime_error {
 public:
  mpi_error(int code, const char* what) : std::runtime_error(what), code_(code) {}
  int code() const { return code_; }

 private:
  int code_;
};

// An error that the MPI has already raised itself, on a communicator of the program's.
class raised_error : public mpi_error {
 public:
  using mpi_error::mpi_error;
};

inline bool is_of_class(int code, int error_class) {
  int found = code;
  PMPI_Error_class(code, &found);
  return found == error_class;
}

inline void require(int code, const char* what) {
  if (code != MPI_SUCCESS) throw mpi_error(code, what);
}

}  // namespace shoal
