// Error handlers that the program made. They may make calls of their own. After such a handler has returned, MPICH and
// its kin return MPI_SUCCESS, whatever was wrong.
#pragma once

#include <mpi.h>

namespace shoal {

class error_handlers {
 public:
  // From now on `*made` tells whether the program has made error handlers. While it is 0, Shoal looks for none. Before
  // this call, and without it, there may be some.
  static void watch_flag(const int* made) { made_ = made; }

  // Whether there are such handlers, as far as is known.
  static bool were_made() { return made_ && *made_; }
  // Whether there may be such handlers, and they may hide errors on this MPI.
  static bool may_hide_errors() {
#ifdef OPEN_MPI
    return false;
#else
    return !made_ || *made_;
#endif
  }
  // Whether the handler of `comm` is one. Not to be asked for exchanges that are right: such a handler may make them
  // itself, and while it runs MPICH holds the lock that this needs.
  static bool may_hide_errors(MPI_Comm comm);

 private:
  inline static const int* made_ = nullptr;
};

}  // namespace shoal
