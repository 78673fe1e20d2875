// The error handler of a communicator, for a while.
#pragma once

#include <mpi.h>

#include "transport/mpi_error.hpp"

namespace shoal {

// Gives a communicator this error handler as long as the object lives.
class handled_by {
 public:
  handled_by(MPI_Comm comm, MPI_Errhandler handler) : comm_(comm) {
    require(PMPI_Comm_get_errhandler(comm, &before_), "MPI_Comm_get_errhandler");
    PMPI_Comm_set_errhandler(comm, handler);
  }
  ~handled_by() {
    PMPI_Comm_set_errhandler(comm_, before_);
    PMPI_Errhandler_free(&before_);
  }
  handled_by(const handled_by&) = delete;
  handled_by& operator=(const handled_by&) = delete;

 private:
  MPI_Comm comm_;
  MPI_Errhandler before_ = MPI_ERRHANDLER_NULL;
};

}  // namespace shoal
