// What the preload finds in the program.
#pragma once

// The function that a call of this name goes to, once what serves calls is loaded; ends the program where there is none.
void* function_for(const char* name);
// The function of this name behind the preload, in the program's MPI or a tool before that; null: there is none.
void* function_of_mpi(const char* name);
// The function of this name in the library that serves calls; null: there is none yet, or calls are not served.
void* function_of_drop_in(const char* name);
// Whether the program has made error handlers; 0: none.
extern int has_made_handlers;
