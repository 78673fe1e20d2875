#include "api/request.hpp"

#include "api/native.hpp"
#include "api/process.hpp"
#include "execute/mpi_error.hpp"

namespace shoal {

request::work::work(communicator& of, const alltoall_call& call)
    : state(of.shared_from_this()), service(of, call, offsets), over(of.own()), moving(of.pool(), over) {
  if (of.phases()) moving.record_phases(&clock.emplace(*of.phases()));
}

void request::work::start() {
  begin = PMPI_Wtime();
  const payload& blocks = service.blocks();
  if (clock) clock->begin();
  const auto run = [&](auto& by) { ran ? by.repeat(blocks) : by.start(service.steps(*chosen->how), blocks); };
  inside ? run(*inside) : run(moving);
  ran = true;
}

void request::work::run_to_end() { inside ? inside->run_to_end() : moving.run_to_end(state->wait()); }

request::~request() {
  if (natives_ != MPI_REQUEST_NULL) PMPI_Request_free(&natives_);
}

void request::prepare_once(communicator& state) {
  auto own = std::make_unique<work>(state, call_);
  own->chosen = own->service.pick_at_once();
  if (own->chosen && own->chosen->how->steps) adopt(std::move(own), state.nonblocking_tags());
}

void request::prepare_repeated(communicator* state, MPI_Info info) {
  repeated_ = true;
  if (state) plan(*state, info);
  if (!work_ && native_persistent) require(native_(&natives_), "preparing the MPI's own collective");
}

void request::plan(communicator& state, MPI_Info info) {
  auto own = std::make_unique<work>(state, call_);
  const alltoall_service::repeated plan = own->service.plan(info);
  own->chosen = plan.how;
  if (own->chosen) state.last = own->chosen;
  if (!own->chosen || !own->chosen->how->steps) return;
  adopt(std::move(own), state.persistent_tags());
  if (!everyone_may_share()) return;
  work_->inside = state.share_inside_nodes(work_->over, work_->tags, plan.most_bytes);
  if (work_->inside && work_->clock) work_->inside->record_phases(&*work_->clock);
}

// Through memory messages between two ranks match in the order in which they are started. A schedule with several of
// them either keeps to that order, or has only tags to tell them apart.
bool request::everyone_may_share() {
  const program& how = work_->service.steps(*work_->chosen->how);
  std::int64_t on_some_rank = !how.plan.shared_memory && !how.one_message_each_way;
  constexpr combine rule = combine::maximum;
  work_->state->agree().reach({&on_some_rank, 1}, {&rule, 1});
  return on_some_rank == 0;
}

void request::adopt(std::unique_ptr<work> prepared, exchange::tag_range tags) {
  prepared->tags = tags;
  prepared->moving.set_tags(tags);
  work_ = std::move(prepared);
}

void request::start() {
  if (active_) throw mpi_error(MPI_ERR_REQUEST, "the request is under way");
  if (work_) {
    work_->start();
    work_->state->add_under_way(this);
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
    work_->state->move_under_way();
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
    work_->state->take_under_way(this);
    work_->run_to_end();
    return finish();
  }
  require(PMPI_Wait(&natives_, MPI_STATUS_IGNORE), "MPI_Wait");
  active_ = false;
}

void request::finish() {
  active_ = false;
  work_->state->take_under_way(this);
  work_->service.drop_snapshot();
  if (process::get().set().report != reporting::none)
    count(*work_->chosen, call_.uniform, work_->service.bytes_sent(), PMPI_Wtime() - work_->begin,
          work_->clock ? &*work_->clock : nullptr);
  work_->state->last = work_->chosen;
}

}  // namespace shoal
