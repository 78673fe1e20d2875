// MPI_Alltoall, MPI_Alltoallv and MPI_Alltoallw: every rank exchanges with all.
#pragma once

#include "calls/exchange_call.hpp"

namespace shoal {

extern const exchange_kind among_all;

}  // namespace shoal
