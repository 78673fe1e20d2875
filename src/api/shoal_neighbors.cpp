// The exchanges of shoal.h among neighbours.
#include "calls/forms.hpp"
#include "calls/native_nonblocking.hpp"
#include "shoal/shoal.h"

using namespace shoal;

namespace {

// Runs the MPI's own collective. If the MPI cannot move what Shoal has under way, the collective comes after a barrier,
// in which Shoal moves it: after the barrier no rank waits for a rank that is not here yet. The nonblocking forms of
// the collectives will not do, because in some MPIs they match edges in another order.
template <typename Native>
int natively(MPI_Comm comm, Native native) {
  if (progress::mpi_can_move()) return moved_by_mpi(native);
  const int code = wait_moving([comm](MPI_Request* own) { return PMPI_Ibarrier(comm, own); });
  return code == MPI_SUCCESS ? native() : code;
}

}  // namespace

extern "C" {

#define BLOCKING(form, native, arguments, ...)                                                           \
  int shoal_##form(arguments(__VA_ARGS__)) {                                                             \
    return serve_along_edges(forms::form.describe(arguments##_NAMES), interface::shoal,                  \
                             [&] { return natively(comm, [&] { return native(arguments##_NAMES); }); }); \
  }

BLOCKING(neighbor_alltoall, PMPI_Neighbor_alltoall, SHOAL_EQUAL, int, int)
BLOCKING(neighbor_alltoallv, PMPI_Neighbor_alltoallv, SHOAL_SIZED, int, int)
BLOCKING(neighbor_alltoallw, PMPI_Neighbor_alltoallw, SHOAL_TYPED, int, MPI_Aint)
#undef BLOCKING

}  // extern "C"
