#include "team/own_communicator.hpp"

#include "team/boundary.hpp"
#include "team/fault_tolerance.hpp"
#include "team/handled_by.hpp"
#include "transport/mpi_ended.hpp"
#include "transport/mpi_error.hpp"

namespace shoal {

namespace {

// Runs `call` with errors of `comm` returned instead of handled by the user's handler.
template <typename Call>
int with_errors_returned(MPI_Comm comm, Call call) {
  const handled_by none(comm, MPI_ERRORS_RETURN);
  return call();
}

}  // namespace

// Not made by MPI_Comm_dup, which copies the user's attributes by calling the user's functions.
MPI_Comm duplicate(MPI_Comm comm) {
  int ranks = 0;
  require(PMPI_Comm_size(comm, &ranks), "MPI_Comm_size");
  if (ranks == 1) return MPI_COMM_SELF;
  MPI_Group all = MPI_GROUP_NULL;
  require(PMPI_Comm_group(comm, &all), "MPI_Comm_group");
  MPI_Comm copy = MPI_COMM_NULL;
  const int code = with_errors_returned(comm, [&] { return PMPI_Comm_create(comm, all, &copy); });
  PMPI_Group_free(&all);
  if (code != MPI_SUCCESS) return MPI_COMM_NULL;
  PMPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN);
  return copy;
}

MPI_Comm merged(MPI_Comm groups) {
  MPI_Comm all = MPI_COMM_NULL;
  const int code = with_errors_returned(groups, [&] { return PMPI_Intercomm_merge(groups, 0, &all); });
  if (code != MPI_SUCCESS) return MPI_COMM_NULL;
  PMPI_Comm_set_errhandler(all, MPI_ERRORS_RETURN);
  return all;
}

own_communicator::~own_communicator() {
  if (is_orphaned()) PMPI_Errhandler_free(&handler_);
  if (own_ != MPI_COMM_SELF && own_ != MPI_COMM_NULL) free_own(own_);
}

void own_communicator::leave() {
  if (is_open()) PMPI_Comm_get_errhandler(users_, &handler_);
}

int own_communicator::raise() {
  const handled_by programs(own_, handler_);
  return raise_current(own_);
}

void own_communicator::require_not_revoked() const {
  if (is_revoked(watched())) throw mpi_error(lasting_error(watched()), "starting an exchange");
}

int own_communicator::find_failure() noexcept {
  const int lasting = lasting_error(watched());
  if (lasting != MPI_SUCCESS && is_open() && !is_revoked(watched())) revoke(own_);
  return lasting;
}

}  // namespace shoal
