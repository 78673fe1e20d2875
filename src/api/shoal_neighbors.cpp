// The exchanges among neighbours of shoal.h.
#include "calls/forms.hpp"
#include "calls/native_nonblocking.hpp"
#include "shoal/shoal.h"

using namespace shoal;

namespace {

// The MPI's own. Where it cannot move what Shoal has under way, it comes behind a barrier in which that moves: no rank then
// waits for another that is not here. The nonblocking forms will not do: in some MPIs they match edges in another order.
template <typename Native>
int natively(MPI_Comm comm, Native native) {
  if (progress::has_mpi_for_it()) return moved_by_mpi(native);
  const int code = wait_moving([comm](MPI_Request* own) { return PMPI_Ibarrier(comm, own); });
  return code == MPI_SUCCESS ? native() : code;
}

}  // namespace

extern "C" {

#define BLOCKING(form, native, arguments, ...)                                                           \
  int shoal_##form(arguments(__VA_ARGS__)) {                                                             \
    return neighbor_alltoall(forms::form.describe(arguments##_NAMES), interface::shoal,                  \
                             [&] { return natively(comm, [&] { return native(arguments##_NAMES); }); }); \
  }

BLOCKING(neighbor_alltoall, PMPI_Neighbor_alltoall, SHOAL_EQUAL, int, int)
BLOCKING(neighbor_alltoallv, PMPI_Neighbor_alltoallv, SHOAL_SIZED, int, int)
BLOCKING(neighbor_alltoallw, PMPI_Neighbor_alltoallw, SHOAL_TYPED, int, MPI_Aint)
#undef BLOCKING

}  // extern "C"
