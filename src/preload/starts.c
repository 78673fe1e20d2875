// The functions of Open MPI that begin MPI. Its mpirun may hand the preload to some nodes only, so the ranks that have
// it let others know (team/other_nodes.hpp).
#include <stdlib.h>
#include <string.h>

#include "preload/pass_on.h"

#ifdef SHOAL_FORTRAN_NAMES  // see fortran.cpp
static int is_on_several_nodes(void) {
  const char* const here = secure_getenv("OMPI_COMM_WORLD_LOCAL_SIZE");
  const char* const all = secure_getenv("OMPI_COMM_WORLD_SIZE");
  return here && all && strcmp(here, all) != 0;
}

// If a module has loaded the MPI, as in Python, the drop-in library may not be loaded yet.
static void have_started(void) {
  if (!is_on_several_nodes()) return;
  prepare_to_serve();
  void (*const tell)(void) = (void (*)(void))function_of_drop_in("shoal_preload_has_started");
  if (tell) tell();
}

#define STARTS(name, number)                             \
  PUBLIC int name WORDS_##number {                       \
    static void* _Atomic to;                             \
    if (!to) to = function_behind(#name);                \
    const int code = ((call_##number*)to)NAMES_##number; \
    have_started();                                      \
    return code;                                         \
  }
#define UNDER_ALL_NAMES(lower, upper, number) \
  STARTS(mpi_##lower, number)                 \
  STARTS(mpi_##lower##_, number)              \
  STARTS(mpi_##lower##__, number) STARTS(MPI_##upper, number) STARTS(ompi_##lower##_f, number)

// NOLINTBEGIN(misc-use-internal-linkage)
STARTS(MPI_Init, 2)
STARTS(MPI_Init_thread, 4)
UNDER_ALL_NAMES(init, INIT, 1)
UNDER_ALL_NAMES(init_thread, INIT_THREAD, 3)
// NOLINTEND(misc-use-internal-linkage)
#endif
