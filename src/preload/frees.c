// The functions in which the MPI deletes the attributes of a communicator, and calls the program's functions for that: what
// serves calls has to know. They go on to whoever has them behind the preload, and load nothing.
#include <stddef.h>

#include "preload/pass_on.h"

struct function {
  const char* name;
  void* _Atomic to;
};

// `comm`: where the communicator is; null: all, as MPI ends.
static int delete_attributes(struct function* f, word comm) {
  if (!f->to) f->to = function_of_mpi(f->name);
  if (!f->to) f->to = function_for(f->name);
  call_1* const to = f->to;
  void (*const begins)(word) = function_of_drop_in("shoal_preload_deletes");
  void (*const ended)(void) = function_of_drop_in("shoal_preload_deleted");
  if (!begins || !ended) return to(comm);
  begins(comm);
  const int code = to(comm);
  ended();
  return code;
}

#define DELETES(name, words, comm)            \
  PUBLIC int name words {                     \
    static struct function self = {#name, 0}; \
    return delete_attributes(&self, comm);    \
  }

// NOLINTBEGIN(misc-use-internal-linkage)
DELETES(MPI_Comm_free, (word comm), comm)
DELETES(MPI_Comm_disconnect, (word comm), comm)
DELETES(MPI_Finalize, (void), 0)
// NOLINTEND(misc-use-internal-linkage)
