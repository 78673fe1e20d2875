#include "calls/request.hpp"

#include "team/boundary.hpp"
#include "transport/mpi_error.hpp"

namespace shoal {

request::request(once, MPI_Comm comm, native_start native, std::unique_ptr<work> prepared)
    : comm_(comm), is_repeated_(false), native_(std::move(native)), work_(std::move(prepared)) {}

request::request(repeated, MPI_Comm comm, native_start native, std::unique_ptr<work> prepared)
    : comm_(comm), is_repeated_(true), native_(std::move(native)), work_(std::move(prepared)) {
  if (!work_ && native_.is_persistent)
    require_of_mpi("preparing the MPI's own collective", [this] { return native_.make(&native_request_); });
}

request::~request() {
  if (native_request_ != MPI_REQUEST_NULL) PMPI_Request_free(&native_request_);
}

held_ranks request::exclusive() {
  if (!work_) return {};
  const auto ranks = work_->ranks();
  return {ranks, std::unique_lock(ranks->lock())};
}

held_ranks request::try_exclusive() {
  const auto ranks = work_->ranks();
  return {ranks, std::unique_lock(ranks->lock(), std::try_to_lock)};
}

void request::start() {
  if (active_) throw mpi_error(MPI_ERR_REQUEST, "the request is under way");
  if (lacks_communicator())
    throw mpi_error(code_of(MPI_ERR_COMM, "the communicator of this request was freed, and the MPI's own needs it"),
                    "starting the MPI's own collective");
  if (work_) work_->ranks()->own().require_not_revoked();
  if (also_) also_();
  if (work_) {
    if (!work_->place()) turn_.emplace(work_->ranks()->turns().take());
    begun_ = false;
    begin();
    progress::get().add(this);
  } else if (native_request_ != MPI_REQUEST_NULL) {
    require_of_mpi("starting the MPI's own collective", [this] { return PMPI_Start(&native_request_); });
  } else {
    require_of_mpi("starting the MPI's own collective", [this] { return native_.make(&native_request_); });
  }
  active_ = true;
}

// Starts the work once its turn has come. Returns whether the work was started.
bool request::begin() {
  if (begun_ || (turn_ && !turn_->has_come())) return begun_;
  begun_ = true;
  work_->start(turn_ ? turn_->tags() : work_->place()->tags());
  return true;
}

bool request::test() {
  if (active_ && work_) {
    progress::get().move();
  } else if (active_) {
    int ended = 0;
    active_ = false;  // also if PMPI_Test() fails
    require_of_mpi("MPI_Test", [&] { return PMPI_Test(&native_request_, &ended, MPI_STATUS_IGNORE); });
    active_ = !ended;
    if (active_) progress::get().move();
  }
  return ended();
}

void request::wait() {
  if (active_ && work_) {
    try {
      waiting& wait = work_->ranks()->wait();
      while (active_ && !begin()) wait.idle();  // idle() may move it to its end
      if (active_) run_to_end();
    } catch (...) {
      fail();
    }
  }
  waiting wait = moving_meanwhile(wait_mode::yield);
  while (!test()) wait.idle();
}

void request::run_to_end() {
  progress::get().remove(this);
  work_->run_to_end();
  finish();
}

// An error of this request that occurs while the process waits for another is raised when the process waits for this.
bool request::move() noexcept {
  const held_ranks alone = try_exclusive();
  if (!alone.lock) return false;
  try {
    return move_on() || !active_;
  } catch (...) {
    fail();
    return true;
  }
}

bool request::move_on() {
  bool moved = false;
  try {
    if (begin() && work_->progress(moved)) finish();
    else work_->ranks()->look_for_failures();
  } catch (const std::bad_alloc&) {  // at once: others wait for this rank's blocks
    throw raised_error(raise(), "out of memory");
  }
  return moved;
}

// The request cannot go on: the MPI has failed, and nothing is left that the MPI will move.
void request::fail() {
  active_ = false;
  progress::get().remove(this);
  turn_.reset();
  failure_ = std::current_exception();
}

void request::finish() {
  active_ = false;
  progress::get().remove(this);
  turn_.reset();
  failure_ = work_->failure();
  work_->ended();
}

int request::raise() {
  if (lacks_communicator()) return raise_current(MPI_COMM_SELF);  // as MPI does if there is no communicator
  return work_ && work_->ranks()->own().is_orphaned() ? work_->ranks()->own().raise() : raise_current(comm_);
}

bool request::ended() {
  if (!active_ && failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  return !active_;
}

}  // namespace shoal
