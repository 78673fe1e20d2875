// The functions of Open MPI that begin to duplicate a communicator. Open MPI uses the communicator for that until the
// request ends, so the drop-in library must not use it.
#include "preload/pass_on.h"

#ifdef SHOAL_FORTRAN_NAMES  // see fortran.cpp
static void note(const char* through, word comm) {
  void (*const noting)(word) = (void (*)(word))function_of_drop_in(through);
  if (noting) noting(comm);
}

#define DUPLICATES_AS(how, symbol, name, through, number) \
  how int symbol WORDS_##number {                         \
    static void* _Atomic to;                              \
    if (!to) to = function_behind(#name);                 \
    note(through, a);                                     \
    return ((call_##number*)to)NAMES_##number;            \
  }
#define DUPLICATES(name, through, number) DUPLICATES_AS(PUBLIC, name, name, through, number)
#define DUPLICATES_NEWER(name, through, number) \
  DUPLICATES_AS(static, pass_##name, name, through, number) FIND(name, number)
#define DUPLICATES_IN_FORTRAN(name, number) DUPLICATES(name, "shoal_preload_note_duplicate_in_fortran", number)
#define UNDER_ALL_NAMES(lower, upper, number)    \
  DUPLICATES_IN_FORTRAN(mpi_##lower, number)     \
  DUPLICATES_IN_FORTRAN(mpi_##lower##_, number)  \
  DUPLICATES_IN_FORTRAN(mpi_##lower##__, number) \
  DUPLICATES_IN_FORTRAN(MPI_##upper, number)     \
  DUPLICATES_IN_FORTRAN(ompi_##lower##_f, number)

// NOLINTBEGIN(misc-use-internal-linkage)
DUPLICATES(MPI_Comm_idup, "shoal_preload_note_duplicate", 3)
DUPLICATES_NEWER(MPI_Comm_idup_with_info, "shoal_preload_note_duplicate", 4)
UNDER_ALL_NAMES(comm_idup, COMM_IDUP, 4)
UNDER_ALL_NAMES(comm_idup_with_info, COMM_IDUP_WITH_INFO, 5)
// NOLINTEND(misc-use-internal-linkage)
#endif
