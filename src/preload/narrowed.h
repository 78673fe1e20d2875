// Calls with 64-bit counts for an MPI of another ABI that has none.
#pragma once

#include "preload/words.h"

// The function that does what MPI_Alltoall_c or its like does, with this MPI's functions; null for other names.
void* narrowed(const char* name, void* mpi);
