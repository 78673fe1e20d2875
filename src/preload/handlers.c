// The functions that make error handlers. The drop-in library has to know of error handlers, on MPIs other than Open
// MPI: see team/error_handlers.hpp. And handlers may throw, which passing.c does not notice.
#include "preload/pass_on.h"

int has_made_handlers;

#define MAKES(name, number)                    \
  PUBLIC int name WORDS_##number {             \
    static void* _Atomic to;                   \
    if (!to) to = function_behind(#name);      \
    has_made_handlers = 1;                     \
    stop_passing();                            \
    return ((call_##number*)to)NAMES_##number; \
  }

// NOLINTBEGIN(misc-use-internal-linkage)
MAKES(MPI_Comm_create_errhandler, 2)
MAKES(MPI_Errhandler_create, 2)
#ifdef SHOAL_MPICH_F08_NAMES  // see requests.c
MAKES(mpi_comm_create_errhandler_f08_, 3)
#endif
// NOLINTEND(misc-use-internal-linkage)
