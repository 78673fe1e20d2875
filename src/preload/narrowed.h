// Calls with 64-bit counts, for an MPI of another ABI that has no functions for them.
#pragma once

#include "preload/words.h"

// For MPI_Alltoall_c and its like: a function that does the same by calling this MPI's functions. Null for other names.
void* narrowed(const char* name, void* mpi);
