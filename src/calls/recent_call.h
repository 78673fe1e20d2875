// What the preload looks at before all else: how the last call on a communicator was made, and how many more calls may
// repeat it. In C, because the preload needs the C library alone.
#pragma once

#include <stddef.h>
#include <stdint.h>

// Calls that pass because they are like the last one: they are only counted, and the MPI serves them.
struct shoal_repeats {
  int left, passed;  // how many more may come, and how many came that the learner has not heard of
  int form;          // as a shoal::call_form
  // The arguments of MPI_Alltoall or MPI_Allgather, if both types are the MPI's own. Other types are not kept, because a
  // program may free one, and the next may get its handle.
  int sent, received;
  intptr_t send_type, recv_type;  // 0: not kept
};

// What few programs need. It lies with all else that Shoal keeps for a communicator (users_communicator.hpp).
struct shoal_other_repeats {
  struct shoal_repeats among_neighbors, between_groups;
};

struct shoal_recent_call {
  intptr_t comm;  // a handle
  struct shoal_repeats among_ranks;
  struct shoal_other_repeats* others;  // null: nothing is kept for this communicator
};

// A communicator has its entry in one of the two of its place.
enum { shoal_log2_places = 9 };
static inline size_t shoal_place_of(intptr_t comm) {
  return (size_t)((uint64_t)comm * 0x9E3779B97F4A7C15u >> (64 - shoal_log2_places));
}

typedef void shoal_function(void);  // to be cast to what it is

// A function of MPI whose calls may repeat.
struct shoal_passing_form {
  int form;
  shoal_function *native, *ended;  // the MPI's own, and what is called instead of returning a code that is an error
};

// What the drop-in library tells the preload.
struct shoal_passing {
  char* entries;       // each begins with a shoal_recent_call; null: no call passes here
  size_t entry_bytes;  // of one
  intptr_t in_place;   // MPI_IN_PLACE
  struct shoal_passing_form alltoall, alltoallv, alltoallw, neighbor_alltoall, neighbor_alltoallv, neighbor_alltoallw;
  struct shoal_passing_form allgather, allgatherv;  // between two groups; in one group all pass
  intptr_t no_comm;                                 // MPI_COMM_NULL
  shoal_function* test_inter;                       // MPI_Comm_test_inter, the MPI's own
};
