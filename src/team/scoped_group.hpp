// The ranks of a communicator, or of the other group of an inter-communicator, as a group of MPI's.
#pragma once

#include <mpi.h>

#include <utility>

#include "transport/mpi_error.hpp"

namespace shoal {

class scoped_group {
 public:
  explicit scoped_group(MPI_Comm comm, int (*group_of)(MPI_Comm, MPI_Group*) = PMPI_Comm_group) {
    require(group_of(comm, &group_), "MPI_Comm_group");
  }
  ~scoped_group() {
    if (group_ != MPI_GROUP_NULL) PMPI_Group_free(&group_);
  }
  scoped_group(const scoped_group&) = delete;
  scoped_group& operator=(const scoped_group&) = delete;

  MPI_Group get() const { return group_; }
  MPI_Group release() { return std::exchange(group_, MPI_GROUP_NULL); }

 private:
  MPI_Group group_ = MPI_GROUP_NULL;
};

}  // namespace shoal
