#include "team/fault_tolerance.hpp"

#include "transport/mpi_newer.hpp"

namespace shoal {

#ifdef MPI_ERR_REVOKED

bool is_fault_tolerant() {
  int *says = nullptr, found = 0;
  if (PMPIX_Comm_is_revoked) PMPI_Comm_get_attr(MPI_COMM_WORLD, MPI_FT, &says, &found);
  return found && *says;
}

bool is_revoked(MPI_Comm comm) noexcept {
  int revoked = 0;
  if (PMPIX_Comm_is_revoked && comm != MPI_COMM_NULL) PMPIX_Comm_is_revoked(comm, &revoked);
  return revoked;
}

int lasting_error(MPI_Comm comm) noexcept {
  if (is_revoked(comm)) return MPI_ERR_REVOKED;
  MPI_Group failed = MPI_GROUP_EMPTY;
  int ranks = 0;
  if (!PMPIX_Comm_get_failed || comm == MPI_COMM_NULL) return MPI_SUCCESS;
  if (PMPIX_Comm_get_failed(comm, &failed) != MPI_SUCCESS) return MPI_SUCCESS;
  PMPI_Group_size(failed, &ranks);
  if (failed != MPI_GROUP_EMPTY) PMPI_Group_free(&failed);
  return ranks > 0 ? MPI_ERR_PROC_FAILED : MPI_SUCCESS;
}

void revoke(MPI_Comm comm) noexcept {
  if (PMPIX_Comm_revoke) PMPIX_Comm_revoke(comm);
}

#else

bool is_fault_tolerant() { return false; }
bool is_revoked(MPI_Comm) noexcept { return false; }
int lasting_error(MPI_Comm) noexcept { return MPI_SUCCESS; }
void revoke(MPI_Comm) noexcept {}

#endif

}  // namespace shoal
