// Error handlers that the program made. After such a handler has returned, MPICH and its kin return MPI_SUCCESS,
// whatever was wrong.
#pragma once

#include <mpi.h>

namespace shoal {

class error_handlers {
 public:
  // From now on `*made` tells whether the program has made error handlers. While it is 0, Shoal looks for none. Before
  // this call, and without it, there may be some.
  static void watch_flag(const int* made) { made_ = made; }

  // Whether a call on `comm` that returned MPI_SUCCESS may have been refused all the same.
  static bool may_hide_errors([[maybe_unused]] MPI_Comm comm) {
#ifdef OPEN_MPI
    return false;
#else
    return (!made_ || *made_) && is_own(comm);
#endif
  }

 private:
  static bool is_own(MPI_Comm comm);

  inline static const int* made_ = nullptr;
};

}  // namespace shoal
