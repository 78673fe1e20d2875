#include "team/of_threads.hpp"

#include "transport/mpi_newer.hpp"

namespace shoal {

#ifdef OPEN_MPI

const char* why_of_threads(MPI_Comm) { return nullptr; }

#else

namespace {

// Several of its ranks may be in one process, for which Shoal keeps one state.
bool has_ranks_in_threads(MPI_Comm comm) {
  int has = 0;
  return shoal_comm_test_threadcomm && shoal_comm_test_threadcomm(comm, &has) == MPI_SUCCESS && has;
}

// MPICH moves nonblocking collectives on several such communicators only in turn. So threads that each wait for one can
// wait for each other for ever, and Shoal's agreements are such collectives.
bool has_stream(MPI_Comm comm) {
  constexpr int none = 0x3c000000;  // MPIX_STREAM_NULL; not in the headers of all MPIs
  long stream = 0;                  // large enough for a handle of any ABI
  if (!shoal_comm_get_stream || shoal_comm_get_stream(comm, 0, &stream) != MPI_SUCCESS) return false;
  return stream != 0 && stream != none;
}

}  // namespace

const char* why_of_threads(MPI_Comm comm) {
  if (has_ranks_in_threads(comm)) return "a communicator whose ranks are threads";
  return has_stream(comm) ? "a stream communicator" : nullptr;
}

#endif

}  // namespace shoal
