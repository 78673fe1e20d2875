// Functions with MPI's names that pass their words on to the function that serves the call.
#pragma once

#include <stddef.h>

#include "preload/preload.h"
#include "preload/words.h"

#define PUBLIC __attribute__((visibility("default")))
#define PASS_ON_AS(how, symbol, name, number)  \
  how int symbol WORDS_##number {              \
    static void* _Atomic to;                   \
    if (!to) to = function_for(#name);         \
    return ((call_##number*)to)NAMES_##number; \
  }
#define PASS_ON(name, number) PASS_ON_AS(PUBLIC, name, name, number)

// The function of this name behind the preload; if there is none, the one that function_for() gives.
static inline void* function_behind(const char* name) {
  void* const behind = function_of_mpi(name);
  return behind ? behind : function_for(name);
}

// A program that asks whether the MPI has a newer function must not find it here if the MPI lacks it. So the linker
// calls a function (`find_...`) for its address. While the program starts, nothing can be looked up yet; but then the
// MPI has the functions, because the program was linked to them.
static int can_look_up;
__attribute__((constructor)) static void started(void) { can_look_up = 1; }
static inline int is_there(const char* name) { return !can_look_up || function_of_mpi(name); }
#define FIND(name, number)                                                                 \
  static call_##number* find_##name(void) { return is_there(#name) ? pass_##name : NULL; } \
  PUBLIC int name WORDS_##number __attribute__((ifunc("find_" #name)));
#define PASS_ON_NEWER(name, number) PASS_ON_AS(static, pass_##name, name, number) FIND(name, number)

#ifdef SHOAL_FORTRAN_NAMES  // see fortran.cpp
#define PASS_ON_FORTRAN(lower, upper, number) \
  PASS_ON(mpi_##lower, number)                \
  PASS_ON(mpi_##lower##_, number)             \
  PASS_ON(mpi_##lower##__, number) PASS_ON(MPI_##upper, number) PASS_ON(ompi_##lower##_f, number)
#else
#define PASS_ON_FORTRAN(lower, upper, number)
#endif
