#include "team/pending_agreement.hpp"

#include "team/errors.hpp"
#include "team/progress.hpp"
#include "transport/mpi_ended.hpp"
#include "transport/mpi_newer.hpp"

namespace shoal {

// From here on the MPI keeps the communicator even if the program frees it, as it does for any request on it, even for
// one that is never started. Open MPI does not keep it for a nonblocking collective alone, and would go on with a
// communicator that is gone.
static void keep([[maybe_unused]] MPI_Comm comm) {
#ifdef OPEN_MPI
  MPI_Request never_started = MPI_REQUEST_NULL;
  PMPI_Recv_init(nullptr, 0, MPI_BYTE, 0, 0, comm, &never_started);
#endif
}

pending_agreement::pending_agreement(MPI_Comm comm, std::vector<std::int64_t> mine)
    : comm_(comm), mine_(std::move(mine)), largest_(mine_.size()) {
  require_of_mpi("MPI_Iallreduce", [&] {
    return PMPI_Iallreduce(mine_.data(), largest_.data(), static_cast<int>(mine_.size()), MPI_INT64_T, MPI_MAX, comm,
                           &request_);
  });
}

pending_agreement::~pending_agreement() {
  try {
    waiting politely = moving_meanwhile(wait_mode::yield);
    if (!abandoned_) wait(politely);
  } catch (...) {  // the communicator has failed; nobody waits for the numbers
  }
}

bool pending_agreement::test() {
  if (abandoned_) return false;
  bool ended = request_ == MPI_REQUEST_NULL;
  if (!ended) require_of_mpi("MPI_Test", [&] { return test_one(request_, ended); });
  return ended;
}

void pending_agreement::look() {
  if (looks_ < 0) return;
  const bool has_come = test();
  if (++looks_ > 1) apart_ = PMPI_Wtime() - began_;
  if (has_come) looks_ = -1;
}

std::span<const std::int64_t> pending_agreement::wait(waiting& waits) {
  while (!test()) waits.idle(waits.parts_among_lookers());
  waits.progressed();
  return largest_;
}

bool pending_agreement::wait_for(double seconds, waiting& waits) {
  const double end = PMPI_Wtime() + seconds;
  while (!test() && PMPI_Wtime() < end) waits.idle(waits.parts_among_lookers());
  waits.progressed();
  return test();
}

void pending_agreement::abandon() {
  abandoned_ = true;
  if (request_ == MPI_REQUEST_NULL) return;
  keep(comm_);
  new std::vector<std::int64_t>(std::move(mine_));  // the MPI may still write here, so these are never freed
  new std::vector<std::int64_t>(std::move(largest_));
}

bool pending_agreement::wait_or_abandon(double seconds, waiting& waits) noexcept {
  if (abandoned_) return false;
  try {
    const bool ended = wait_for(seconds, waits);
    if (!ended) abandon();
    return ended;
  } catch (...) {  // the communicator has failed
    abandoned_ = true;
    return false;
  }
}

// In MPICH, MPI_Comm_disconnect waits until no request refers to the communicator, and if the program has no preload,
// Shoal does not learn of that call. So the request is freed here. MPI does not allow that for a collective, but MPICH
// does from 4.0 on, because what moves the collective has a reference of its own. MPICH up to 3.4 ends the program, so
// this is done only with versions that are surely newer.
void pending_agreement::stop_asking() {
#ifndef OPEN_MPI
  if (abandoned_ || request_ == MPI_REQUEST_NULL || !shoal_request_is_complete) return;
  abandon();
  PMPI_Request_free(&request_);
#endif
}

}  // namespace shoal
