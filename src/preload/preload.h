// What the preload finds in the program. The drop-in library, libshoal-drop-in.so, serves the calls.
#pragma once

// The function to which a call of this name goes. Loads the drop-in library first. Ends the program if there is no such
// function.
void* function_for(const char* name);
// Finds the MPI and loads the drop-in library, if that has not been done yet.
void prepare_to_serve(void);
// The function of this name behind the preload, in the program's MPI or in a tool before it; null: there is none.
void* function_of_mpi(const char* name);
// The function of this name in the drop-in library; null: there is none, or the library is not loaded (yet).
void* function_of_drop_in(const char* name);
// Whether the program has made error handlers; 0: it has made none.
extern int has_made_handlers;
// Asks the drop-in library, which was just loaded, for what passing.c needs.
void begin_passing(void);
// From now on every call goes to the drop-in library.
void stop_passing(void);
