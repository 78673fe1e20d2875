#include "calls/allgather_work.hpp"

#include <optional>

#include "calls/allgather_service.hpp"
#include "calls/process.hpp"
#include "calls/verification.hpp"

namespace shoal {

namespace {

class allgather_work final : public request::work {
 public:
  allgather_work(intercommunicator& state, const allgather_call& call)
      : call_(call), state_(state.shared_from_this()), service_(state, call_) {
    if (state.phases()) clock_ = *state.phases();
  }

  // Returns whether there is a schedule to run. If not, the MPI's own collective serves.
  bool prepare(MPI_Info info) {
    chosen_ = service_.plan(info);
    if (chosen_) state_->last = chosen_;
    if (!chosen_ || !chosen_->algorithm->has_schedule()) return false;
    place_ = state_->all().next_place();
    if (!place_) return false;
    moving_.emplace(state_->all().opened(), clock_ ? &*clock_ : nullptr);
    if (process::get().set().verify) sums_.emplace();
    return true;
  }

  std::shared_ptr<team> ranks() override { return {state_, &state_->all()}; }
  const tag_turns::place* place() const override { return &*place_; }
  void start(tag_range tags) override {
    begin_ = PMPI_Wtime();
    if (sums_) sums_->begin(state_->all().opened(), tags.beside(), service_.sent(), 1);
    moving_->set_tags(tags);
    moving_->start(service_.steps(*chosen_->algorithm), service_.messages());
  }
  bool progress(bool& moved) override { return moving_->progress(moved) && (!sums_ || sums_->test()); }
  void run_to_end() override {
    moving_->run_to_end(state_->all().wait());
    while (sums_ && !sums_->test()) state_->all().wait().idle();
  }
  std::exception_ptr failure() override {
    first_failure first;
    if (const auto& own = moving_->failure()) first.note(own);
    else first.attempt([this] { verify(); });
    return first.what();
  }
  void ended() override {
    usage run;
    run.add(service_.bytes_sent(), PMPI_Wtime() - begin_, clock_ ? &*clock_ : nullptr);
    process::get().count_ended(state_->all(), *chosen_->algorithm, call_.name(), call_.form(), run);
    state_->last = chosen_;
  }

 private:
  void verify() {
    if (!sums_) return;
    sums_->require_equal(service_.received(), state_->senders(1 - state_->outgoing()),
                         state_->sends(0) ? state_->senders(0) : 0);
    state_->verified_by_sums.add(service_.bytes_sent(), 0);
  }

  const allgather_call call_;
  std::shared_ptr<intercommunicator> state_;
  allgather_service service_;
  std::optional<tag_turns::place> place_;
  std::optional<phase_clock> clock_;  // time between tests counts for the part that ends next
  std::optional<group_exchange> moving_;
  std::optional<block_sums> sums_;  // if results are verified
  const group_decision* chosen_ = nullptr;
  double begin_ = 0;
};

}  // namespace

std::unique_ptr<request::work> allgather_repeated(intercommunicator& state, const allgather_call& call, MPI_Info info) {
  auto work = std::make_unique<allgather_work>(state, call);
  return work->prepare(info) ? std::move(work) : nullptr;
}

}  // namespace shoal
