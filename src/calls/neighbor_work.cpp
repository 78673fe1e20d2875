#include "calls/neighbor_work.hpp"

#include <optional>
#include <vector>

#include "calls/process.hpp"

namespace shoal {

namespace {

class neighbor_work final : public request::work {
 public:
  neighbor_work(const std::shared_ptr<neighborhood>& among, const neighbor_call& call)
      : call_(call),
        state_(among->over().shared_from_this()),
        among_(among),
        service_(*among, call_, blocks_),
        over_(state_->all().opened()),
        moving_(state_->all().pool(), over_) {}

  // Both return whether there is a schedule to run. If not, the MPI's own collective serves.
  bool prepare_once() { return keep(service_.pick_without_asking()); }
  bool prepare_repeated(MPI_Info info) {
    if (!keep(service_.plan(info))) return false;
    place_ = state_->all().next_place();
    return place_.has_value();
  }

  std::shared_ptr<team> ranks() override { return {state_, &state_->all()}; }
  const tag_turns::place* place() const override { return place_ ? &*place_ : nullptr; }
  void start(tag_range tags) override {
    begin_ = PMPI_Wtime();
    moving_.set_tags(tags);
    moving_.start(*algorithm_->steps, service_.blocks());
  }
  bool progress(bool& moved) override { return moving_.progress(moved); }
  void run_to_end() override { moving_.run_to_end(state_->all().wait()); }
  std::exception_ptr failure() override { return moving_.failure(); }
  void ended() override {
    usage run;
    run.add(service_.bytes_sent(), PMPI_Wtime() - begin_);
    process::get().count_ended(state_->all(), *algorithm_, call_.name(), call_.form(), run);
  }

 private:
  bool keep(const decision* chosen) {
    if (chosen) algorithm_ = chosen->algorithm;
    return algorithm_ && algorithm_->has_schedule();
  }

  const neighbor_call call_;
  std::shared_ptr<communicator> state_;
  std::shared_ptr<neighborhood> among_;
  block_storage blocks_;
  neighbor_service service_;
  std::optional<tag_turns::place> place_;
  mpi_transport over_;
  exchange moving_;
  prepared* algorithm_ = nullptr;
  double begin_ = 0;
};

}  // namespace

std::unique_ptr<request::work> neighbor_once(const std::shared_ptr<neighborhood>& among, const neighbor_call& call) {
  auto work = std::make_unique<neighbor_work>(among, call);
  return work->prepare_once() ? std::move(work) : nullptr;
}

std::unique_ptr<request::work> neighbor_repeated(const std::shared_ptr<neighborhood>& among, const neighbor_call& call,
                                                 MPI_Info info) {
  auto work = std::make_unique<neighbor_work>(among, call);
  return work->prepare_repeated(info) ? std::move(work) : nullptr;
}

}  // namespace shoal
