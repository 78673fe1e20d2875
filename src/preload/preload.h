// What the preload finds in the program.
#pragma once

#include "calls/left_call.h"

// The function that a call of this name goes to, once what serves calls is loaded; ends the program where there is none.
void* function_for(const char* name);
// The function of this name behind the preload, in the program's MPI or a tool before that; null: there is none.
void* function_of_mpi(const char* name);
// The function of this name in the library that serves calls; null: there is none yet, or
// calls are not served.
void* function_of_drop_in(const char* name);
// Whether anyone wants to know of such calls, who reads the numbers in MPI_Finalize.
int is_told(struct left_call* call);
