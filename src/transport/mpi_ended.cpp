#include "transport/mpi_ended.hpp"

#include <array>
#include <mutex>
#include <string_view>

#include "transport/mpi_newer.hpp"

namespace shoal {

thread_local int inside_mpi::depth_ = 0;

namespace {

#ifdef OPEN_MPI  // Open MPI raises what MPI_Testsome finds on the requests' own communicators
struct returned_errors {};

// Open MPI may always be asked: if a request has ended, the MPI does not move, and it calls what moves Shoal's
// exchanges only once at a time.
constexpr bool can_look() { return false; }
constexpr bool has_ended(MPI_Request) { return false; }
#else

bool can_look() { return shoal_request_is_complete; }
bool has_ended(MPI_Request request) { return shoal_request_is_complete(request); }

// The communicator on which errors that MPI_Testsome finds are raised, whatever communicators the requests belong to:
// MPI_COMM_WORLD in Intel MPI and in an MPICH of MPI 4.0, MPI_COMM_SELF in any other MPICH. There an error ends most
// programs.
MPI_Comm found_errors_are_on() {
  int version = 0, subversion = 0, length = 0;
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> library{};
  PMPI_Get_version(&version, &subversion);
  PMPI_Get_library_version(library.data(), &length);
  const bool on_world = (version == 4 && subversion == 0) || std::string_view(library.data()).starts_with("Intel");
  return on_world ? MPI_COMM_WORLD : MPI_COMM_SELF;
}

// While an object of this class lives, such errors are returned.
class returned_errors {
 public:
  returned_errors() {
    const std::scoped_lock guard(lock);
    if (users++ > 0) return;
    PMPI_Comm_get_errhandler(where(), &handler);
    PMPI_Comm_set_errhandler(where(), MPI_ERRORS_RETURN);
  }
  ~returned_errors() {
    const std::scoped_lock guard(lock);
    if (--users > 0) return;
    PMPI_Comm_set_errhandler(where(), handler);
    PMPI_Errhandler_free(&handler);
  }
  returned_errors(const returned_errors&) = delete;
  returned_errors& operator=(const returned_errors&) = delete;

 private:
  static MPI_Comm where() {
    static const MPI_Comm comm = found_errors_are_on();
    return comm;
  }
  static inline std::mutex lock;
  static inline int users = 0;
  static inline MPI_Errhandler handler = MPI_ERRHANDLER_NULL;  // the program's
};
#endif

// Takes the requests from `first` on that have ended already.
int take_ended(std::size_t first, std::vector<MPI_Request>& requests, int& count, std::vector<int>& indices,
               std::vector<MPI_Status>& statuses) {
  int all = MPI_SUCCESS;
  for (std::size_t i = first; i < requests.size(); ++i) {
    if (!has_ended(requests[i])) continue;
    const int code = PMPI_Wait(&requests[i], &statuses[count]);
    statuses[count].MPI_ERROR = code;
    if (code != MPI_SUCCESS) all = MPI_ERR_IN_STATUS;
    indices[count++] = static_cast<int>(i);
  }
  return all;
}

// Makes the MPI move by testing the first request, and takes those that have ended. The MPI raises an error of this
// request, or of moving, on the request's own communicator.
int move_and_take_ended(std::vector<MPI_Request>& requests, int& count, std::vector<int>& indices,
                        std::vector<MPI_Status>& statuses) {
  int first_has_ended = 0;
  const int code = PMPI_Test(&requests[0], &first_has_ended, &statuses[0]);
  if (!first_has_ended && code != MPI_SUCCESS) return code;
  if (first_has_ended) {
    statuses[0].MPI_ERROR = code;
    indices[count++] = 0;
  }
  const int others = take_ended(1, requests, count, indices, statuses);
  return code == MPI_SUCCESS ? others : MPI_ERR_IN_STATUS;
}

}  // namespace

int test_one(MPI_Request& request, bool& ended) {
  if (can_look() && inside_mpi::now() && request != MPI_REQUEST_NULL) {
    ended = has_ended(request);
    return ended ? PMPI_Wait(&request, MPI_STATUS_IGNORE) : MPI_SUCCESS;
  }
  int done = 0;
  const int code = PMPI_Test(&request, &done, MPI_STATUS_IGNORE);
  ended = done || code != MPI_SUCCESS;
  return code;
}

// If possible, this does not replace the program's error handler, because threads of the program may be at work on it.
// It must for messages of a rank to itself: these may end at once, and then MPICH does not know their communicator.
int test_some(bool one_rank, std::vector<MPI_Request>& requests, int& count, std::vector<int>& indices,
              std::vector<MPI_Status>& statuses) {
  count = 0;
  if (can_look() && (inside_mpi::now() || !one_rank)) {
    const int code = take_ended(0, requests, count, indices, statuses);
    return count > 0 || inside_mpi::now() ? code : move_and_take_ended(requests, count, indices, statuses);
  }
  [[maybe_unused]] const returned_errors here;
  return PMPI_Testsome(static_cast<int>(requests.size()), requests.data(), &count, indices.data(), statuses.data());
}

void cancel(MPI_Request& request) {
  [[maybe_unused]] const returned_errors here;
  PMPI_Cancel(&request);
}

// Receives what has come, and returns whether anything had. There is no room for it, so each receive ends in an error. A
// look may only let the MPI take in a message, which the next one finds.
static bool drop_messages(MPI_Comm comm) {
  constexpr int looks = 8;
  MPI_Status left;
  bool any = false;
  for (int vain = 0, found = 0; vain < looks && !inside_mpi::now(); vain = found ? 0 : vain + 1) {
    if (PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &found, &left) != MPI_SUCCESS) break;
    if (found) PMPI_Recv(nullptr, 0, MPI_BYTE, left.MPI_SOURCE, left.MPI_TAG, comm, MPI_STATUS_IGNORE);
    any = any || found;
  }
  return any;
}

void free_own(MPI_Comm& comm) {
  if (!drop_messages(comm)) return void(PMPI_Comm_free(&comm));
  [[maybe_unused]] const returned_errors here;  // more messages may come
  PMPI_Comm_free(&comm);
}

}  // namespace shoal
