#include "team/pending_agreement.hpp"

#include <array>
#include <atomic>
#include <utility>

#include "team/errors.hpp"
#include "team/progress.hpp"
#include "transport/mpi_ended.hpp"
#include "transport/mpi_newer.hpp"

namespace shoal {

// From here on the MPI keeps the communicator even if the program frees it, as it does for any request on it, even for
// one that is never started. Open MPI does not keep it for a nonblocking collective alone, and would go on with a
// communicator that is gone.
static MPI_Request keep([[maybe_unused]] MPI_Comm comm) noexcept {
  MPI_Request never_started = MPI_REQUEST_NULL;
#ifdef OPEN_MPI
  try {
    PMPI_Recv_init(nullptr, 0, MPI_BYTE, 0, 0, comm, &never_started);
  } catch (...) {  // the program's error handler threw
  }
#endif
  return never_started;
}

namespace {

// Agreements that were let go. They are never destroyed at the end, because the MPI may have ended by then. Some may
// never end, so there are never many. While one is tested it is not among them, because the program's error handler may
// be called, and let others go.
constinit std::array<std::atomic<pending_agreement*>, 64> those_let_go{};

// From here on another thread may take the agreement. If there is no room, it is abandoned.
void put_among_those(std::unique_ptr<pending_agreement> agreement) {
  pending_agreement* const one = agreement.release();
  for (auto& place : those_let_go) {
    pending_agreement* none = nullptr;
    if (place.compare_exchange_strong(none, one)) return;
  }
  one->abandon();
  delete one;
}

}  // namespace

pending_agreement::pending_agreement(MPI_Comm comm, std::vector<std::int64_t> mine)
    : comm_(comm), numbers_(std::make_unique<numbers>(std::move(mine))) {
  require_of_mpi("MPI_Iallreduce", [&] {
    return PMPI_Iallreduce(numbers_->mine.data(), numbers_->largest.data(), static_cast<int>(numbers_->mine.size()),
                           MPI_INT64_T, MPI_MAX, comm, &request_);
  });
}

pending_agreement::~pending_agreement() {
  try {
    waiting politely = moving_meanwhile(wait_mode::yield);
    if (!is_abandoned()) wait(politely);
  } catch (...) {  // the communicator has failed; nobody waits for the numbers
    abandon();
  }
}

bool pending_agreement::test() {
  if (is_abandoned()) return false;
  bool ended = request_ == MPI_REQUEST_NULL;
  if (!ended) require_of_mpi("MPI_Test", [&] { return test_one(request_, ended); });
  return ended;
}

void pending_agreement::look() {
  if (looks_ < 0) return;
  const bool has_come = test();
  if (++looks_ > 1) apart_ = age();
  if (has_come) looks_ = -1;
  else missing_ = age();
}

std::span<const std::int64_t> pending_agreement::wait(waiting& waits) {
  while (!test()) waits.idle(waits.parts_among_lookers());
  waits.progressed();
  return largest();
}

bool pending_agreement::wait_for(double seconds, waiting& waits) {
  const double end = PMPI_Wtime() + seconds;
  while (!test() && PMPI_Wtime() < end) waits.idle(waits.parts_among_lookers());
  waits.progressed();
  return test();
}

void pending_agreement::abandon() noexcept {
  if (request_ == MPI_REQUEST_NULL) return numbers_.reset();
  if (keeping_ == MPI_REQUEST_NULL) keep(comm_);
  [[maybe_unused]] const numbers* const left = numbers_.release();  // the MPI may still write there: never freed
}

bool pending_agreement::wait_or_abandon(double seconds, waiting& waits) noexcept {
  if (is_abandoned()) return false;
  try {
    if (wait_for(seconds, waits)) return true;
  } catch (...) {  // the communicator has failed
  }
  abandon();
  return false;
}

bool pending_agreement::has_gone() noexcept {
  try {
    if (!test()) return false;
    if (keeping_ != MPI_REQUEST_NULL) PMPI_Request_free(&keeping_);
  } catch (...) {  // the communicator has failed
    abandon();
  }
  return true;
}

int pending_agreement::left_to_mpi() noexcept {
  int left = 0;
  for (auto& place : those_let_go) {
    std::unique_ptr<pending_agreement> one(place.exchange(nullptr));
    if (!one || one->has_gone()) continue;
    ++left;
    put_among_those(std::move(one));
  }
  return left;
}

void pending_agreement::wait_for_left(double seconds) noexcept {
  waiting politely(wait_mode::yield);
  const double end = PMPI_Wtime() + seconds;
  while (left_to_mpi() > 0 && PMPI_Wtime() < end) politely.idle();
}

bool pending_agreement::let_go(std::unique_ptr<pending_agreement> agreement) noexcept {
  left_to_mpi();
  if (agreement->is_abandoned()) return false;
  if (agreement->has_gone()) return true;
  agreement->keeping_ = keep(agreement->comm_);
  put_among_those(std::move(agreement));
  return false;
}

// In MPICH, MPI_Comm_disconnect waits until no request refers to the communicator, and if the program has no preload,
// Shoal does not learn of that call. So the request is freed here. MPI does not allow that for a collective, but MPICH
// does from 4.0 on, because what moves the collective has a reference of its own. MPICH up to 3.4 ends the program, so
// this is done only with versions that are surely newer.
void pending_agreement::stop_asking() {
#ifndef OPEN_MPI
  if (is_abandoned() || request_ == MPI_REQUEST_NULL || !shoal_request_is_complete) return;
  abandon();
  PMPI_Request_free(&request_);
#endif
}

}  // namespace shoal
