#include "api/request.hpp"

#include "api/native.hpp"
#include "execute/mpi_error.hpp"

namespace shoal {

request::request(once, MPI_Comm comm, native_start native, std::unique_ptr<work> prepared)
    : comm_(comm), is_repeated_(false), native_(std::move(native)), work_(std::move(prepared)) {}

request::request(repeated, MPI_Comm comm, native_start native, std::unique_ptr<work> prepared)
    : comm_(comm), is_repeated_(true), native_(std::move(native)), work_(std::move(prepared)) {
  if (!work_ && native_persistent) require(native_(&natives_), "preparing the MPI's own collective");
}

request::~request() {
  if (natives_ != MPI_REQUEST_NULL) PMPI_Request_free(&natives_);
}

void request::start() {
  if (active_) throw mpi_error(MPI_ERR_REQUEST, "the request is under way");
  if (work_) {
    work_->start();
    work_->ranks().add_under_way(this);
  } else if (natives_ != MPI_REQUEST_NULL) {
    require(PMPI_Start(&natives_), "starting the MPI's own collective");
  } else {
    require(native_(&natives_), "starting the MPI's own collective");
  }
  active_ = true;
}

bool request::test() {
  if (!active_) return true;
  if (work_) {
    work_->ranks().move_under_way();
  } else {
    int ended = 0;
    require(PMPI_Test(&natives_, &ended, MPI_STATUS_IGNORE), "MPI_Test");
    active_ = !ended;
  }
  return !active_;
}

bool request::move() {
  bool moved = false;
  if (work_->progress(moved)) finish();
  return moved || !active_;
}

void request::wait() {
  if (!active_) return;
  if (work_) {
    work_->ranks().take_under_way(this);
    work_->run_to_end();
    return finish();
  }
  require(PMPI_Wait(&natives_, MPI_STATUS_IGNORE), "MPI_Wait");
  active_ = false;
}

void request::finish() {
  active_ = false;
  work_->ranks().take_under_way(this);
  work_->ended();
}

}  // namespace shoal
