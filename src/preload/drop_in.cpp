// The drop-in library: MPI's names, served by Shoal, which calls only PMPI_ functions. preload.c passes calls on to it.
// If a tool wraps the same calls, whichever of the two is found first gets the calls, and the other does not see them.
#include <mpi.h>

#include <cstdint>

#include "calls/deleted_attributes.hpp"
#include "calls/forms.hpp"
#include "calls/process.hpp"
#include "calls/recent_call.h"
#include "calls/recent_calls.hpp"
#include "team/boundary.hpp"
#include "team/error_handlers.hpp"
#include "team/of_threads.hpp"
#include "team/other_nodes.hpp"
#include "transport/buffered_sends.hpp"
#include "transport/mpi_newer.hpp"

using namespace shoal;

// What can be found out before MPI_Init is found out here, so that it does not slow down the first exchange.
__attribute__((constructor)) static void find_out_early() { process::get(); }

// Ends what is under way on a communicator or, if `comm` is null, on all. Whatever goes wrong in this, something stays
// under way.
static bool have_all_ended(const MPI_Comm* comm) {
  try {
    return process::get().leave(comm);
  } catch (...) {
    return false;
  }
}

template <typename Function>
static shoal_function* in_c(Function* function) {
  return reinterpret_cast<shoal_function*>(function);
}

#pragma GCC visibility push(default)
extern "C" {

// preload.c calls this when the job has ended. If there is no memory to tell anything, nothing is told.
void shoal_preload_report_nothing() {
  try {
    process::get().report_nothing();
  } catch (...) {
    return;
  }
}
// starts.c calls this when MPI_Init has ended in a job on several nodes. If there is no memory to tell anything, nothing
// is told.
void shoal_preload_has_started() {
  try {
    announce_preload();
  } catch (...) {
    return;
  }
}
// buffers.c calls this.
void shoal_preload_note_buffer() { buffered_sends::expect(); }
// preload.c calls this. `made` is where handlers.c says whether the program has made error handlers.
void shoal_preload_watch_handlers(const int* made) { error_handlers::watch_flag(made); }
// duplicates.c calls this. If `comm` is not a communicator, the MPI itself says so.
void shoal_preload_note_duplicate(MPI_Comm comm) {
  try {
    process::get().leave_to_duplicate(comm);
  } catch (...) {
    return;
  }
}
using deleting = int(std::intptr_t, std::intptr_t);
// frees.c calls this. Calls `function`, which deletes the attributes of a communicator or, if `comm` is null, of all,
// because MPI ends. Error handlers may throw through this function. `instead`: null, or a function that does the same
// without waiting for what is under way on the communicator.
//
// MPICH's MPI_Comm_disconnect waits until no request refers to the communicator, and then does what MPI_Comm_free does,
// without communicating with other ranks. So MPI_Comm_free serves if a vote is left that may never end. What is lost is
// the wait for messages whose requests the program has freed. Open MPI's MPI_Comm_disconnect waits for all ranks, and
// for no request.
int shoal_preload_delete(const MPI_Comm* comm, deleting* function, [[maybe_unused]] deleting* instead, std::intptr_t a,
                         std::intptr_t b) {
  [[maybe_unused]] const bool all_ended = have_all_ended(comm);
#ifndef OPEN_MPI
  if (!all_ended && instead) function = instead;
#endif
  const deleted_attributes deleted(comm);
  return function(a, b);
}

#define BLOCKING(function, form, arguments, ...)                                   \
  int function(arguments(__VA_ARGS__)) {                                           \
    return forms::form.blocking(interface::mpi, MPI_INFO_NULL, arguments##_NAMES); \
  }
#define NONBLOCKING(function, form, arguments, ...)             \
  int function(arguments(__VA_ARGS__), MPI_Request* request) {  \
    return forms::form.nonblocking(request, arguments##_NAMES); \
  }
#define PERSISTENT(function, form, arguments, ...)                            \
  int function(arguments(__VA_ARGS__), MPI_Info info, MPI_Request* request) { \
    return forms::form.persistent(info, request, arguments##_NAMES);          \
  }

BLOCKING(MPI_Alltoall, alltoall, SHOAL_EQUAL, int, int)
BLOCKING(MPI_Alltoallv, alltoallv, SHOAL_SIZED, int, int)
BLOCKING(MPI_Alltoallw, alltoallw, SHOAL_TYPED, int, int)
BLOCKING(MPI_Alltoall_c, alltoall_c, SHOAL_EQUAL, MPI_Count, MPI_Aint)
BLOCKING(MPI_Alltoallv_c, alltoallv_c, SHOAL_SIZED, MPI_Count, MPI_Aint)
BLOCKING(MPI_Alltoallw_c, alltoallw_c, SHOAL_TYPED, MPI_Count, MPI_Aint)
BLOCKING(MPI_Allgather, allgather, SHOAL_EQUAL, int, int)
BLOCKING(MPI_Allgatherv, allgatherv, SHOAL_GATHERED, int, int)
BLOCKING(MPI_Allgather_c, allgather_c, SHOAL_EQUAL, MPI_Count, MPI_Aint)
BLOCKING(MPI_Allgatherv_c, allgatherv_c, SHOAL_GATHERED, MPI_Count, MPI_Aint)

NONBLOCKING(MPI_Ialltoall, ialltoall, SHOAL_EQUAL, int, int)
NONBLOCKING(MPI_Ialltoallv, ialltoallv, SHOAL_SIZED, int, int)
NONBLOCKING(MPI_Ialltoallw, ialltoallw, SHOAL_TYPED, int, int)
NONBLOCKING(MPI_Ialltoall_c, ialltoall_c, SHOAL_EQUAL, MPI_Count, MPI_Aint)
NONBLOCKING(MPI_Ialltoallv_c, ialltoallv_c, SHOAL_SIZED, MPI_Count, MPI_Aint)
NONBLOCKING(MPI_Ialltoallw_c, ialltoallw_c, SHOAL_TYPED, MPI_Count, MPI_Aint)
PERSISTENT(MPI_Alltoall_init, alltoall_init, SHOAL_EQUAL, int, int)
PERSISTENT(MPI_Alltoallv_init, alltoallv_init, SHOAL_SIZED, int, int)
PERSISTENT(MPI_Alltoallw_init, alltoallw_init, SHOAL_TYPED, int, int)
PERSISTENT(MPI_Alltoall_init_c, alltoall_init_c, SHOAL_EQUAL, MPI_Count, MPI_Aint)
PERSISTENT(MPI_Alltoallv_init_c, alltoallv_init_c, SHOAL_SIZED, MPI_Count, MPI_Aint)
PERSISTENT(MPI_Alltoallw_init_c, alltoallw_init_c, SHOAL_TYPED, MPI_Count, MPI_Aint)

// The functions of newer MPIs are called only if the MPI has them.
BLOCKING(MPI_Neighbor_alltoall, neighbor_alltoall, SHOAL_EQUAL, int, int)
BLOCKING(MPI_Neighbor_alltoallv, neighbor_alltoallv, SHOAL_SIZED, int, int)
BLOCKING(MPI_Neighbor_alltoallw, neighbor_alltoallw, SHOAL_TYPED, int, MPI_Aint)
BLOCKING(MPI_Neighbor_alltoall_c, neighbor_alltoall_c, SHOAL_EQUAL, MPI_Count, MPI_Aint)
BLOCKING(MPI_Neighbor_alltoallv_c, neighbor_alltoallv_c, SHOAL_SIZED, MPI_Count, MPI_Aint)
BLOCKING(MPI_Neighbor_alltoallw_c, neighbor_alltoallw_c, SHOAL_TYPED, MPI_Count, MPI_Aint)
NONBLOCKING(MPI_Ineighbor_alltoall, ineighbor_alltoall, SHOAL_EQUAL, int, int)
NONBLOCKING(MPI_Ineighbor_alltoallv, ineighbor_alltoallv, SHOAL_SIZED, int, int)
NONBLOCKING(MPI_Ineighbor_alltoallw, ineighbor_alltoallw, SHOAL_TYPED, int, MPI_Aint)
NONBLOCKING(MPI_Ineighbor_alltoall_c, ineighbor_alltoall_c, SHOAL_EQUAL, MPI_Count, MPI_Aint)
NONBLOCKING(MPI_Ineighbor_alltoallv_c, ineighbor_alltoallv_c, SHOAL_SIZED, MPI_Count, MPI_Aint)
NONBLOCKING(MPI_Ineighbor_alltoallw_c, ineighbor_alltoallw_c, SHOAL_TYPED, MPI_Count, MPI_Aint)
PERSISTENT(MPI_Neighbor_alltoall_init, neighbor_alltoall_init, SHOAL_EQUAL, int, int)
PERSISTENT(MPI_Neighbor_alltoallv_init, neighbor_alltoallv_init, SHOAL_SIZED, int, int)
PERSISTENT(MPI_Neighbor_alltoallw_init, neighbor_alltoallw_init, SHOAL_TYPED, int, MPI_Aint)
PERSISTENT(MPI_Neighbor_alltoall_init_c, neighbor_alltoall_init_c, SHOAL_EQUAL, MPI_Count, MPI_Aint)
PERSISTENT(MPI_Neighbor_alltoallv_init_c, neighbor_alltoallv_init_c, SHOAL_SIZED, MPI_Count, MPI_Aint)
PERSISTENT(MPI_Neighbor_alltoallw_init_c, neighbor_alltoallw_init_c, SHOAL_TYPED, MPI_Count, MPI_Aint)
#undef BLOCKING
#undef NONBLOCKING
#undef PERSISTENT

// passing.c calls this.
void shoal_preload_show_passing(shoal_passing* to) {
#define SHOW(name, mpi_name, form_of, arguments, ...)                                                            \
  to->name = {static_cast<int>(call_form::form_of), in_c(mpi_name), in_c(+[](int code, arguments(__VA_ARGS__)) { \
                return forms::name.ended_passing(code, arguments##_NAMES);                                       \
              })};
  SHOW(alltoall, PMPI_Alltoall, equal, SHOAL_EQUAL, int, int)
  SHOW(alltoallv, PMPI_Alltoallv, any_sizes, SHOAL_SIZED, int, int)
  SHOW(alltoallw, PMPI_Alltoallw, any_types, SHOAL_TYPED, int, int)
  SHOW(neighbor_alltoall, PMPI_Neighbor_alltoall, equal, SHOAL_EQUAL, int, int)
  SHOW(neighbor_alltoallv, PMPI_Neighbor_alltoallv, any_sizes, SHOAL_SIZED, int, int)
  SHOW(neighbor_alltoallw, PMPI_Neighbor_alltoallw, any_types, SHOAL_TYPED, int, MPI_Aint)
  SHOW(allgather, PMPI_Allgather, equal, SHOAL_EQUAL, int, int)
  SHOW(allgatherv, PMPI_Allgatherv, any_sizes, SHOAL_GATHERED, int, int)
#undef SHOW
  to->in_place = reinterpret_cast<std::intptr_t>(MPI_IN_PLACE);
  to->no_comm = (std::intptr_t)MPI_COMM_NULL;  // NOLINT: an address or an int
  to->test_inter = in_c(PMPI_Comm_test_inter);
  recent_calls::show(*to);
}

#ifndef OPEN_MPI
// preload.c passes these on if the MPI has them.
int MPIX_Stream_comm_create(MPI_Comm comm, int stream, MPI_Comm* made) {
  const int code = shoal_stream_comm_create(comm, stream, made);
  if (code == MPI_SUCCESS) mark_streams(*made);
  return code;
}
int MPIX_Stream_comm_create_multiplex(MPI_Comm comm, int count, int streams[], MPI_Comm* made) {
  const int code = shoal_stream_comm_create_multiplex(comm, count, streams, made);
  if (code == MPI_SUCCESS) mark_streams(*made);
  return code;
}
#endif

int MPI_Start(MPI_Request* request) { return start_request(request); }
int MPI_Startall(int count, MPI_Request requests[]) { return start_requests(count, requests); }
int MPI_Request_free(MPI_Request* request) { return free_request(request); }

}  // extern "C"
#pragma GCC visibility pop
