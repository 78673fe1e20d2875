#include "calls/alltoall_work.hpp"

#include <optional>
#include <vector>

#include "calls/alltoall_service.hpp"
#include "calls/process.hpp"
#include "calls/verification.hpp"

namespace shoal {

namespace {

class alltoall_work final : public request::work {
 public:
  alltoall_work(communicator& state, const alltoall_call& call)
      : call_(call),
        state_(state.shared_from_this()),
        service_(state, call_, blocks_),
        over_(state.all().opened()),
        moving_(state.all().pool(), over_) {
    if (state.phases()) moving_.record_phases(&clock_.emplace(*state.phases()));
    if (process::get().set().verify) sums_.emplace();
  }

  // Both return whether there is a schedule to run. If not, the MPI's own collective serves.
  bool prepare_once() { return keep(service_.pick_without_asking()); }
  bool prepare_repeated(MPI_Info info) {
    const alltoall_service::repeated plan = service_.plan(info);
    if (plan.chosen) state_->last = plan.chosen;
    if (!keep(plan.chosen)) return false;
    place_ = state_->all().next_place();
    if (place_ && everyone_may_share()) share(plan.most_bytes);
    return place_.has_value();
  }

  std::shared_ptr<team> ranks() override { return {state_, &state_->all()}; }
  const tag_turns::place* place() const override { return place_ ? &*place_ : nullptr; }
  void start(tag_range tags) override;
  bool progress(bool& moved) override {
    return (inside_ ? inside_->progress(moved) : moving_.progress(moved)) && (!sums_ || sums_->test());
  }
  void run_to_end() override {
    inside_ ? inside_->run_to_end() : moving_.run_to_end(state_->all().wait());
    while (sums_ && !sums_->test()) state_->all().wait().idle();
  }
  std::exception_ptr failure() override {
    first_failure first;
    if (const auto& own = inside_ ? inside_->failure() : moving_.failure()) first.note(own);
    else first.attempt([this] { verify(); });
    return first.what();
  }
  void ended() override;

 private:
  // Keeps the decision, whatever is decided for later calls. Returns whether there is a schedule.
  bool keep(const decision* chosen) {
    chosen_ = chosen;
    if (chosen) algorithm_ = chosen->algorithm;
    return algorithm_ && algorithm_->has_schedule();
  }
  bool everyone_may_share();
  void verify() {
    if (!sums_) return;
    sums_->require_equal(service_.received(), state_->ranks(), 0);
    state_->verified_by_sums.add(service_.bytes_sent(), 0);
  }
  void share(std::size_t most_bytes) {
    inside_ = state_->all().memory().make(over_, node_exchange::room::of_any(most_bytes));
    if (inside_ && clock_) inside_->record_phases(&*clock_);
  }

  const alltoall_call call_;
  std::shared_ptr<communicator> state_;
  block_storage blocks_;
  alltoall_service service_;
  std::optional<tag_turns::place> place_;
  mpi_transport over_;
  exchange moving_;
  std::unique_ptr<node_exchange> inside_;  // instead of moving_, if the ranks of a node share memory
  std::optional<phase_clock> clock_;       // time between tests counts for the part that ends next
  std::optional<block_sums> sums_;         // if results are verified
  const decision* chosen_ = nullptr;       // gone if the program has freed its communicator
  prepared* algorithm_ = nullptr;
  double begin_ = 0;
};

// Messages through memory match in the order in which the two ranks start them. A schedule with several messages
// between two ranks either keeps to one order, or tells them apart only by tags and cannot use memory.
bool alltoall_work::everyone_may_share() {
  const linked_schedule& steps = service_.steps(*algorithm_);
  return !state_->all().agree().on_any_rank(!steps.shared_memory && !steps.one_message_each_way);
}

void alltoall_work::start(tag_range tags) {
  begin_ = PMPI_Wtime();
  const payload& blocks = service_.blocks();
  if (sums_) sums_->begin(state_->all().opened(), tags.beside(), blocks.send, state_->ranks());
  if (clock_) clock_->begin();
  const auto run = [&](auto& by) {
    by.set_tags(tags);
    by.start(service_.steps(*algorithm_), blocks);
  };
  inside_ ? run(*inside_) : run(moving_);
}

void alltoall_work::ended() {
  service_.drop_snapshot();
  if (!state_->all().own().is_orphaned()) state_->last = chosen_;
  usage run;
  run.add(service_.bytes_sent(), PMPI_Wtime() - begin_, clock_ ? &*clock_ : nullptr);
  process::get().count_ended(state_->all(), *algorithm_, call_.name(), call_.form(), run);
}

}  // namespace

std::unique_ptr<request::work> alltoall_once(communicator& state, const alltoall_call& call) {
  auto work = std::make_unique<alltoall_work>(state, call);
  return work->prepare_once() ? std::move(work) : nullptr;
}

std::unique_ptr<request::work> alltoall_repeated(communicator& state, const alltoall_call& call, MPI_Info info) {
  auto work = std::make_unique<alltoall_work>(state, call);
  return work->prepare_repeated(info) ? std::move(work) : nullptr;
}

}  // namespace shoal
