// The start of a shoal_exchange() that ends in another call, for C and Fortran, which keep arrivals in different types.
#pragma once

#include "calls/sparse_request.hpp"
#include "shoal/shoal.h"

namespace shoal {

// Where the program wants what arrives. `put` hands it over once the exchange has ended without an error. If `where` is
// null, that is an error of this rank.
struct arrivals_place {
  void* where;
  void (*put)(void* where, shoal_arrivals* came);
};

// shoal_iexchange().
int start_sparse(const sparse_call& call, arrivals_place place, shoal_request* request);

}  // namespace shoal
