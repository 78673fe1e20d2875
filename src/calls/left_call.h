// One function of the all-to-all family that the preload leaves to the MPI: C on one side, C++ on the other.
#pragma once

#include <stdint.h>

struct left_call {
  const char *name, *reason;
  int64_t calls, nanoseconds;  // atomic; nanoseconds inside the function, which may only start an exchange
};
