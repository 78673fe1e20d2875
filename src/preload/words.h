// MPI's arguments, passed on as machine words: a word holds a handle, be it an int or an address, and a count of any
// width. So the preload need not know the ABI.
#pragma once

#include <stdint.h>

typedef intptr_t word;

#define WORDS_1 (word a)
#define WORDS_2 (word a, word b)
#define WORDS_3 (word a, word b, word c)
#define WORDS_4 (word a, word b, word c, word d)
#define WORDS_5 (word a, word b, word c, word d, word e)
#define WORDS_7 (word a, word b, word c, word d, word e, word f, word g)
#define WORDS_8 (word a, word b, word c, word d, word e, word f, word g, word h)
#define WORDS_9 (word a, word b, word c, word d, word e, word f, word g, word h, word i)
#define WORDS_10 (word a, word b, word c, word d, word e, word f, word g, word h, word i, word j)
#define WORDS_11 (word a, word b, word c, word d, word e, word f, word g, word h, word i, word j, word k)
#define WORDS_12 (word a, word b, word c, word d, word e, word f, word g, word h, word i, word j, word k, word l)

#define NAMES_1 (a)
#define NAMES_2 (a, b)
#define NAMES_3 (a, b, c)
#define NAMES_4 (a, b, c, d)
#define NAMES_5 (a, b, c, d, e)
#define NAMES_7 (a, b, c, d, e, f, g)
#define NAMES_8 (a, b, c, d, e, f, g, h)
#define NAMES_9 (a, b, c, d, e, f, g, h, i)
#define NAMES_10 (a, b, c, d, e, f, g, h, i, j)
#define NAMES_11 (a, b, c, d, e, f, g, h, i, j, k)
#define NAMES_12 (a, b, c, d, e, f, g, h, i, j, k, l)

typedef int call_1 WORDS_1;
typedef int call_2 WORDS_2;
typedef int call_3 WORDS_3;
typedef int call_4 WORDS_4;
typedef int call_5 WORDS_5;
typedef int call_7 WORDS_7;
typedef int call_8 WORDS_8;
typedef int call_9 WORDS_9;
typedef int call_10 WORDS_10;
typedef int call_11 WORDS_11;
typedef int call_12 WORDS_12;
