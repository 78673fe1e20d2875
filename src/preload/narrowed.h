// Calls with 64-bit counts for an MPI of another ABI that has none.
#pragma once

#include <stdint.h>

typedef intptr_t word;

#define WORDS_7 (word a, word b, word c, word d, word e, word f, word g)
#define WORDS_8 (word a, word b, word c, word d, word e, word f, word g, word h)
#define WORDS_9 (word a, word b, word c, word d, word e, word f, word g, word h, word i)
#define WORDS_10 (word a, word b, word c, word d, word e, word f, word g, word h, word i, word j)

typedef int call_7 WORDS_7;
typedef int call_8 WORDS_8;
typedef int call_9 WORDS_9;
typedef int call_10 WORDS_10;

// The function that does what MPI_Alltoall_c or its like does, with this MPI's functions; null for other names.
void* narrowed(const char* name, void* mpi);
