// The functions of the all-to-all family that Shoal does not serve: passed on to the MPI, and counted where a report is asked
// for.
#include <stddef.h>
#include <time.h>

#include "preload/pass_on.h"

// One of them under one of its names.
struct function {
  const char* name;
  struct left_call* call;
  _Atomic int told;
  void* _Atomic to;
};

static void look_up(struct function* f) {
  void* const to = function_for(f->name);
  f->told = is_told(f->call);
  f->to = to;
}

static int64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static void count(struct left_call* call, int64_t nanoseconds) {
  __atomic_fetch_add(&call->calls, 1, __ATOMIC_RELAXED);
  __atomic_fetch_add(&call->nanoseconds, nanoseconds, __ATOMIC_RELAXED);
}

// NOLINTBEGIN(misc-use-internal-linkage)
#define PASS(how, symbol, name, family, number)                \
  how int symbol WORDS_##number {                              \
    static struct function self = {#name, &(family), 0, NULL}; \
    if (!self.to) look_up(&self);                              \
    call_##number* const to = self.to;                         \
    if (!self.told) return to NAMES_##number;                  \
    const int64_t begin = now();                               \
    const int code = to NAMES_##number;                        \
    count(self.call, now() - begin);                           \
    return code;                                               \
  }
#define LEAVE(call, name, number) PASS(PUBLIC, name, name, call, number)
#define LEAVE_NEWER(call, name, number) PASS(static, pass_##name, name, call, number) FIND(name, number)

#ifdef SHOAL_FORTRAN_NAMES  // see fortran.cpp
#define LEAVE_FORTRAN(call, upper, number) \
  LEAVE(call, mpi_##call, number)          \
  LEAVE(call, mpi_##call##_, number)       \
  LEAVE(call, mpi_##call##__, number) LEAVE(call, MPI_##upper, number) LEAVE(call, ompi_##call##_f, number)
#else
#define LEAVE_FORTRAN(call, upper, number)
#endif

// `words` are the arguments in C, `more` in Fortran.
#define LEFT(call, upper, name, words, more, why)    \
  static struct left_call call = {#call, why, 0, 0}; \
  LEAVE(call, name, words) LEAVE_NEWER(call, name##_c, words) LEAVE_FORTRAN(call, upper, more)
#define LEFT_NEWER(call, upper, name, words, more, why) \
  static struct left_call call = {#call, why, 0, 0};    \
  LEAVE_NEWER(call, name, words) LEAVE_NEWER(call, name##_c, words) LEAVE_FORTRAN(call, upper, more)

#define PERSISTENT "persistent, its starts are not counted"
#define NEIGHBORS "among neighbours"

LEFT(ineighbor_alltoall, INEIGHBOR_ALLTOALL, MPI_Ineighbor_alltoall, 8, 9, NEIGHBORS)
LEFT(ineighbor_alltoallv, INEIGHBOR_ALLTOALLV, MPI_Ineighbor_alltoallv, 10, 11, NEIGHBORS)
LEFT(ineighbor_alltoallw, INEIGHBOR_ALLTOALLW, MPI_Ineighbor_alltoallw, 10, 11, NEIGHBORS)
LEFT_NEWER(neighbor_alltoall_init, NEIGHBOR_ALLTOALL_INIT, MPI_Neighbor_alltoall_init, 9, 10, PERSISTENT)
LEFT_NEWER(neighbor_alltoallv_init, NEIGHBOR_ALLTOALLV_INIT, MPI_Neighbor_alltoallv_init, 11, 12, PERSISTENT)
LEFT_NEWER(neighbor_alltoallw_init, NEIGHBOR_ALLTOALLW_INIT, MPI_Neighbor_alltoallw_init, 11, 12, PERSISTENT)
// NOLINTEND(misc-use-internal-linkage)
