#include "team/error_handlers.hpp"

namespace shoal {

bool error_handlers::may_hide_errors(MPI_Comm comm) {
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  if (PMPI_Comm_get_errhandler(comm, &handler) != MPI_SUCCESS) return false;
  if (handler == MPI_ERRORS_ARE_FATAL || handler == MPI_ERRORS_RETURN) return false;
  PMPI_Errhandler_free(&handler);
  return true;
}

}  // namespace shoal
