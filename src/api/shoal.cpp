// The C functions of shoal.h.
#include "shoal/shoal.h"

#include <cstdio>

#include "calls/forms.hpp"
#include "calls/process.hpp"
#include "team/boundary.hpp"
#include "team/nearest_rounding.hpp"

using namespace shoal;

extern "C" {

#define BLOCKING(form, arguments, ...)                                               \
  int shoal_##form(arguments(__VA_ARGS__)) {                                         \
    return forms::form.blocking(interface::shoal, MPI_INFO_NULL, arguments##_NAMES); \
  }
#define BLOCKING_WITH(form, arguments, ...)                                 \
  int shoal_##form##_with(arguments(__VA_ARGS__), MPI_Info info) {          \
    return forms::form.blocking(interface::shoal, info, arguments##_NAMES); \
  }

BLOCKING(alltoall, SHOAL_EQUAL, int, int)
BLOCKING(alltoall_c, SHOAL_EQUAL, MPI_Count, MPI_Aint)
BLOCKING_WITH(alltoall, SHOAL_EQUAL, int, int)
BLOCKING(alltoallv, SHOAL_SIZED, int, int)
BLOCKING(alltoallv_c, SHOAL_SIZED, MPI_Count, MPI_Aint)
BLOCKING_WITH(alltoallv, SHOAL_SIZED, int, int)
BLOCKING(alltoallw, SHOAL_TYPED, int, int)
BLOCKING(alltoallw_c, SHOAL_TYPED, MPI_Count, MPI_Aint)
BLOCKING_WITH(alltoallw, SHOAL_TYPED, int, int)
BLOCKING(allgather, SHOAL_EQUAL, int, int)
BLOCKING(allgather_c, SHOAL_EQUAL, MPI_Count, MPI_Aint)
BLOCKING_WITH(allgather, SHOAL_EQUAL, int, int)
BLOCKING(allgatherv, SHOAL_GATHERED, int, int)
BLOCKING(allgatherv_c, SHOAL_GATHERED, MPI_Count, MPI_Aint)
BLOCKING_WITH(allgatherv, SHOAL_GATHERED, int, int)
#undef BLOCKING
#undef BLOCKING_WITH

int shoal_comm_set_info(MPI_Comm comm, MPI_Info info) {
  return returning_codes(comm, [&] {
    const nearest_rounding as_on_others;
    std::string wrong;
    try {
      if (between_groups(comm)) {
        if (intercommunicator* state = process::get().groups_of(comm, true, wrong)) state->named().take(info);
      } else if (communicator* state = process::get().state_of(comm, true, wrong)) {
        const std::scoped_lock alone(state->all().lock());
        state->everyone().named().take(info);
      }
    } catch (const std::invalid_argument& error) {
      return raise_error(comm, MPI_ERR_INFO_VALUE, error.what());
    }
    return wrong.empty() ? MPI_SUCCESS : raise_error(comm, MPI_ERR_OTHER, wrong.c_str());
  });
}

int shoal_comm_explain(MPI_Comm comm, char* text, int size) {
  return returning_codes(comm, [&]() -> int {
    if (!text || size < 1) return raise_error(comm, MPI_ERR_ARG, "shoal_comm_explain needs room for at least one byte");
    const std::string line = process::get().explain(comm);
    std::snprintf(text, static_cast<std::size_t>(size), "%s", line.c_str());
    return MPI_SUCCESS;
  });
}

}  // extern "C"
