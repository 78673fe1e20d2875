#include "team/of_threads.hpp"

#include <atomic>
#include <mutex>

#include "transport/mpi_newer.hpp"

namespace shoal {

#ifdef OPEN_MPI

const char* why_of_threads(MPI_Comm) { return nullptr; }
void mark_streams(MPI_Comm) noexcept {}

#else

namespace {

std::atomic<int> key = MPI_KEYVAL_INVALID;  // of the mark; invalid: no communicator has it

void make_key() {
  static std::mutex lock;
  const std::scoped_lock guard(lock);
  int made = MPI_KEYVAL_INVALID;
  if (key != MPI_KEYVAL_INVALID) return;
  if (PMPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &made, nullptr) == MPI_SUCCESS) key = made;
}

// Several of its ranks may be in one process, for which Shoal keeps one state.
bool has_ranks_in_threads(MPI_Comm comm) {
  int has = 0;
  return shoal_comm_test_threadcomm && shoal_comm_test_threadcomm(comm, &has) == MPI_SUCCESS && has;
}

// MPICH moves what is under way on such a communicator only in calls that are about its stream. So Shoal's agreements,
// which are nonblocking collectives, would never end there. MPIX_Comm_get_stream() would not do instead of a mark: some
// ranks may have no stream, and where there are several it reads beyond an array.
bool has_streams(MPI_Comm comm) {
  void* mark = nullptr;
  int found = 0;
  return key != MPI_KEYVAL_INVALID && PMPI_Comm_get_attr(comm, key, &mark, &found) == MPI_SUCCESS && found;
}

}  // namespace

const char* why_of_threads(MPI_Comm comm) {
  if (has_ranks_in_threads(comm)) return "a communicator whose ranks are threads";
  return has_streams(comm) ? "a stream communicator" : nullptr;
}

void mark_streams(MPI_Comm comm) noexcept {
  try {
    make_key();
  } catch (...) {  // the mutex failed
    return;
  }
  if (key != MPI_KEYVAL_INVALID) PMPI_Comm_set_attr(comm, key, &key);
}

#endif

}  // namespace shoal
