#include "api/native_nonblocking.hpp"

#include <limits>

#include "api/progress.hpp"

namespace shoal {

namespace {

bool fits(std::int64_t value) {
  return value >= std::numeric_limits<int>::min() && value <= std::numeric_limits<int>::max();
}

bool fit(const number_array& values, int ranks) {
  if (values.ints()) return true;
  for (int i = 0; i < ranks; ++i)
    if (!fits(values[i])) return false;
  return true;
}

// With how many ranks a rank exchanges.
int peers_of(MPI_Comm comm) {
  int ranks = 0, inter = 0;
  PMPI_Comm_test_inter(comm, &inter);
  inter ? PMPI_Comm_remote_size(comm, &ranks) : PMPI_Comm_size(comm, &ranks);
  return ranks;
}

// As the program gave them, or narrowed where they came in 64 bits.
const int* ints_of(const number_array& values, int ranks, std::vector<int>& storage) {
  if (values.ints()) return values.ints();
  storage.clear();
  for (int i = 0; i < ranks; ++i) storage.push_back(static_cast<int>(values[i]));
  return storage.data();
}

int count_of(const number_array& values) { return static_cast<int>(values[0]); }

}  // namespace

native_collective::~native_collective() {
  if (request_ != MPI_REQUEST_NULL) PMPI_Request_free(&request_);
}

bool native_collective::serves(const alltoall_call& call) {
  const int ranks = call.uniform ? 1 : peers_of(call.comm);
  const bool sends = call.send == MPI_IN_PLACE || (fit(call.send_counts, ranks) && fit(call.send_displacements, ranks));
  return sends && fit(call.recv_counts, ranks) && fit(call.recv_displacements, ranks);
}

bool native_collective::serves(const allgather_call& call) {
  const int ranks = call.uniform ? 1 : peers_of(call.comm);
  return fits(call.send_count) && fit(call.recv_counts, ranks) && fit(call.recv_displacements, ranks);
}

int native_collective::start(const alltoall_call& call) {
  if (call.uniform)
    return PMPI_Ialltoall(call.send, count_of(call.send_counts), call.send_type, call.recv, count_of(call.recv_counts),
                          call.recv_type, call.comm, &request_);
  const int ranks = peers_of(call.comm);
  const bool in_place = call.send == MPI_IN_PLACE;
  const auto sent = [&](const number_array& values, std::vector<int>& storage) {
    return in_place ? nullptr : ints_of(values, ranks, storage);
  };
  return PMPI_Ialltoallv(call.send, sent(call.send_counts, narrowed_[0]), sent(call.send_displacements, narrowed_[1]),
                         call.send_type, call.recv, ints_of(call.recv_counts, ranks, narrowed_[2]),
                         ints_of(call.recv_displacements, ranks, narrowed_[3]), call.recv_type, call.comm, &request_);
}

int native_collective::start(const allgather_call& call) {
  const int sent = static_cast<int>(call.send_count);
  if (call.uniform)
    return PMPI_Iallgather(call.send, sent, call.send_type, call.recv, count_of(call.recv_counts), call.recv_type,
                           call.comm, &request_);
  const int ranks = peers_of(call.comm);
  return PMPI_Iallgatherv(call.send, sent, call.send_type, call.recv, ints_of(call.recv_counts, ranks, narrowed_[2]),
                          ints_of(call.recv_displacements, ranks, narrowed_[3]), call.recv_type, call.comm, &request_);
}

int native_collective::test(bool& ended) {
  int flag = 0;
  const int code = PMPI_Test(&request_, &flag, MPI_STATUS_IGNORE);
  ended = flag || code != MPI_SUCCESS;
  return code;
}

int native_collective::wait(wait_mode mode) {
  waiting wait(mode);
  wait.move_meanwhile([] { return progress::get().move(); });
  for (;;) {
    bool ended = false;
    const int code = test(ended);
    if (ended) return code;
    wait.idle();
  }
}

}  // namespace shoal
