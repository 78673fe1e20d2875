#include "team/rank_communicator.hpp"

#include "transport/mpi_error.hpp"

namespace shoal {

static MPI_Comm own = MPI_COMM_NULL;

MPI_Comm rank_communicator() {
  static const int code = [] {
    MPI_Group self = MPI_GROUP_NULL;
    require(PMPI_Comm_group(MPI_COMM_SELF, &self), "MPI_Comm_group");
    const int made = PMPI_Comm_create(MPI_COMM_SELF, self, &own);
    PMPI_Group_free(&self);
    if (made == MPI_SUCCESS) PMPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN);
    return made;
  }();
  require(code, "MPI_Comm_create");
  return own;
}

void free_rank_communicator() {
  if (own != MPI_COMM_NULL) PMPI_Comm_free(&own);
}

}  // namespace shoal
