#include "calls/arguments.hpp"

#include "transport/mpi_error.hpp"

namespace shoal {

namespace {

// MPI has no function that tells. Errors of MPI_COMM_SELF are the program's to handle, other communicators are Shoal's.
bool is_committed(MPI_Datatype type, MPI_Comm own) {
  thread_local MPI_Datatype named = MPI_DATATYPE_NULL;  // the last one; they are never freed
  if (type == named) return true;
  int integers = 0, addresses = 0, types = 0, combiner = MPI_COMBINER_DUP;
  if (PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner) == MPI_SUCCESS &&
      combiner == MPI_COMBINER_NAMED) {
    named = type;
    return true;
  }
  MPI_Errhandler users = MPI_ERRHANDLER_NULL;
  if (own == MPI_COMM_SELF) {
    require(PMPI_Comm_get_errhandler(own, &users), "MPI_Comm_get_errhandler");
    PMPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN);
  }
  const int code = PMPI_Send(&named, 1, type, MPI_PROC_NULL, 0, own);  // to nobody: nothing is read
  if (own == MPI_COMM_SELF) {
    PMPI_Comm_set_errhandler(own, users);
    PMPI_Errhandler_free(&users);
  }
  return code == MPI_SUCCESS;
}

// The null address is MPI_BOTTOM, and right for types of absolute addresses.
bool begins_at_its_address(MPI_Datatype type) {
  MPI_Count lower = 0, extent = 0;
  require(PMPI_Type_get_true_extent_x(type, &lower, &extent), "MPI_Type_get_true_extent_x");
  return lower == 0;
}

}  // namespace

bool is_valid(const user_buffer& buffer, MPI_Datatype type, int ranks, MPI_Comm own) {
  bool empty = true;
  for (int i = 0; i < ranks; ++i) {
    if (buffer.counts[i] < 0) return false;
    empty = empty && buffer.counts[i] == 0;
  }
  if (type == MPI_DATATYPE_NULL) return empty;
  if (buffer.base == static_cast<std::byte*>(MPI_IN_PLACE) || !is_committed(type, own)) return false;
  return empty || buffer.base || buffer.type_size == 0 || !begins_at_its_address(type);
}

}  // namespace shoal
