#include "api/request.hpp"

#include "api/process.hpp"
#include "execute/mpi_error.hpp"

namespace shoal {

request::work::work(communicator& of, const alltoall_call& call)
    : state(of.shared_from_this()), service(of, call, offsets), over(of.own()), moving(of.pool(), over) {
  if (of.phases()) moving.record_phases(&clock.emplace(*of.phases()));
}

void request::prepare_once(communicator& state) {
  auto own = std::make_unique<work>(state, call_);
  own->chosen = own->service.pick_at_once();
  if (own->chosen && own->chosen->how->steps) adopt(std::move(own), state.nonblocking_tags());
}

void request::prepare_repeated(communicator& state, MPI_Info info) {
  repeated_ = true;
  auto own = std::make_unique<work>(state, call_);
  own->chosen = own->service.plan(info);
  if (own->chosen && own->chosen->how->steps) adopt(std::move(own), state.persistent_tags());
}

void request::adopt(std::unique_ptr<work> prepared, exchange::tag_range tags) {
  prepared->tags = tags;
  prepared->moving.set_tags(tags);
  work_ = std::move(prepared);
}

void request::start() {
  if (active_) throw mpi_error(MPI_ERR_REQUEST, "the request is under way");
  if (work_) {
    work_->begin = PMPI_Wtime();
    const payload& blocks = work_->service.blocks();
    if (work_->clock) work_->clock->begin();
    if (work_->ran) work_->moving.repeat(blocks);
    else work_->moving.start(work_->service.steps(*work_->chosen->how), blocks);
    work_->ran = true;
  } else {
    require(native_(&natives_), "starting the MPI's own collective");
  }
  active_ = true;
}

bool request::test() {
  if (!active_) return true;
  if (work_) {
    bool moved = false;
    if (work_->moving.progress(moved)) finish();
  } else {
    int ended = 0;
    require(PMPI_Test(&natives_, &ended, MPI_STATUS_IGNORE), "MPI_Test");
    active_ = !ended;
  }
  return !active_;
}

void request::wait() {
  if (active_ && !work_) require(PMPI_Wait(&natives_, MPI_STATUS_IGNORE), "MPI_Wait");
  if (!work_) active_ = false;
  waiting idle(work_ ? work_->state->wait().mode() : wait_mode::yield);
  while (active_) {
    bool moved = false;
    if (work_->moving.progress(moved)) finish();
    else moved ? idle.progressed() : idle.idle();
  }
}

void request::finish() {
  active_ = false;
  work_->service.drop_snapshot();
  if (process::get().set().report != reporting::none)
    count(*work_->chosen, call_.uniform, work_->service.bytes_sent(), PMPI_Wtime() - work_->begin,
          work_->clock ? &*work_->clock : nullptr);
  work_->state->last = work_->chosen;
}

}  // namespace shoal
