// The functions by which a program gives Open MPI memory for buffered sends. The drop-in library has to know of such
// calls: see transport/buffered_sends.hpp.
#include "preload/pass_on.h"

#ifdef SHOAL_FORTRAN_NAMES  // see fortran.cpp
static void note(void) {
  void (*const noting)(void) = function_of_drop_in("shoal_preload_note_buffer");
  if (noting) noting();
}

#define ATTACHES(name, number)                 \
  PUBLIC int name WORDS_##number {             \
    static void* _Atomic to;                   \
    if (!to) to = function_behind(#name);      \
    note();                                    \
    return ((call_##number*)to)NAMES_##number; \
  }

// NOLINTBEGIN(misc-use-internal-linkage)
ATTACHES(MPI_Buffer_attach, 2)
ATTACHES(mpi_buffer_attach, 3)
ATTACHES(mpi_buffer_attach_, 3)
ATTACHES(mpi_buffer_attach__, 3)
ATTACHES(MPI_BUFFER_ATTACH, 3)
ATTACHES(ompi_buffer_attach_f, 3)
// NOLINTEND(misc-use-internal-linkage)
#endif
