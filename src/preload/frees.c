// The functions in which the MPI deletes the attributes of a communicator and calls the program's functions for that.
// The drop-in library has to know of these calls. So if it is loaded, the call goes through it to the function behind
// the preload; else directly. A call does not load the library.
#include <stddef.h>

#include "preload/pass_on.h"

struct function {
  const char* name;
  const char* instead;  // the function that does the same without waiting; null: there is none
  void* _Atomic to;
};

// `through`: the function of the drop-in library that calls this one. `comm`: the address of the communicator; null:
// all communicators, because MPI ends.
static int delete_attributes(struct function* f, const char* through, word comm, word a, word b) {
  if (!f->to) f->to = function_behind(f->name);
  int (*const serving)(word, void*, void*, word, word) = function_of_drop_in(through);
  if (!serving) return ((call_2*)f->to)(a, b);
  return serving(comm, f->to, f->instead ? function_of_mpi(f->instead) : NULL, a, b);
}

#define DELETES(name, instead, through, words, comm, a, b) \
  PUBLIC int name words {                                  \
    static struct function self = {#name, instead, 0};     \
    return delete_attributes(&self, through, comm, a, b);  \
  }
#define DELETES_IN_C(name, instead, words, comm, a, b) DELETES(name, instead, "shoal_preload_delete", words, comm, a, b)

// NOLINTBEGIN(misc-use-internal-linkage)
DELETES_IN_C(MPI_Comm_free, NULL, (word comm), comm, comm, 0)
DELETES_IN_C(MPI_Comm_disconnect, "MPI_Comm_free", (word comm), comm, comm, 0)
DELETES_IN_C(MPI_Finalize, NULL, (void), 0, 0, 0)

#ifdef SHOAL_FORTRAN_NAMES  // see fortran.cpp
#define DELETES_IN_FORTRAN(name) \
  DELETES(name, NULL, "shoal_preload_delete_in_fortran", (word comm, word ierror), comm, comm, ierror)
#define FINALIZES(name) DELETES_IN_C(name, NULL, (word ierror), 0, ierror, 0)
#define UNDER_ALL_NAMES(kind, lower, upper) \
  kind(mpi_##lower) kind(mpi_##lower##_) kind(mpi_##lower##__) kind(MPI_##upper) kind(ompi_##lower##_f)
UNDER_ALL_NAMES(DELETES_IN_FORTRAN, comm_free, COMM_FREE)
UNDER_ALL_NAMES(DELETES_IN_FORTRAN, comm_disconnect, COMM_DISCONNECT)
UNDER_ALL_NAMES(FINALIZES, finalize, FINALIZE)
#endif

#ifdef SHOAL_MPICH_F08_NAMES  // see requests.c; the handles are C's there
DELETES_IN_C(mpi_comm_free_f08_, NULL, (word comm, word ierror), comm, comm, ierror)
DELETES_IN_C(mpi_comm_disconnect_f08_, "mpi_comm_free_f08_", (word comm, word ierror), comm, comm, ierror)
DELETES_IN_C(mpi_finalize_f08_, NULL, (word ierror), 0, ierror, 0)
#endif
// NOLINTEND(misc-use-internal-linkage)
