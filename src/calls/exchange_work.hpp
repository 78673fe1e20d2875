// An exchange that is started in one call and ended in another, as Shoal serves it, whatever the collective. A service
// says what is special about the collective: it picks the algorithm, and names the blocks and whose they are.
#pragma once

#include <mpi.h>

#include <exception>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "calls/process.hpp"
#include "calls/recent_calls.hpp"
#include "calls/request.hpp"
#include "calls/verification.hpp"
#include "execute/phases.hpp"
#include "team/usage.hpp"
#include "transport/failure.hpp"

namespace shoal {

template <typename Service>
class exchange_work final : public request::work {
 public:
  using state = typename Service::state;
  using call = typename Service::call;

  exchange_work(std::shared_ptr<state> kept, const call& arguments)
      : arguments_(arguments),
        kept_(std::move(kept)),
        service_(*kept_, arguments_),
        clock_(clock_of(service_.kept())),
        moving_(service_.kept().all(), clock()) {}

  // Both return whether there is a schedule to run. If not, the MPI's own collective serves.
  bool prepare_once() { return keep(service_.pick_without_asking()); }
  bool prepare_repeated(MPI_Info info) {
    const auto* const chosen = service_.plan(info);
    if (chosen) service_.kept().last = chosen;
    if (!keep(chosen)) return false;
    place_ = service_.kept().all().next_place();
    if (!place_) return false;
    if constexpr (requires { service_.share(moving_, *algorithm_); }) service_.share(moving_, *algorithm_);
    return true;
  }

  std::shared_ptr<team> ranks() override { return {kept_, &service_.kept().all()}; }
  const tag_turns::place* place() const override { return place_ ? &*place_ : nullptr; }
  void start(tag_range tags) override {
    begin_ = PMPI_Wtime();
    const auto& blocks = service_.blocks();
    if (sums_) sums_->begin(tags.beside(), service_.sent(), service_.received());
    moving_.set_tags(tags);
    moving_.start(service_.steps(*algorithm_), blocks);
  }
  bool progress(bool& moved) override { return moving_.progress(moved) && have_sums_ended(); }
  void run_to_end() override {
    waiting& wait = service_.kept().all().wait();
    moving_.run_to_end(wait);
    while (!have_sums_ended()) wait.idle();
  }
  std::exception_ptr failure() override {
    first_failure first;
    if (const auto& own = moving_.failure()) first.note(own);
    else first.attempt([this] { verify(); });
    return first.what();
  }
  void ended() override {
    if constexpr (requires { service_.drop_snapshot(); }) service_.drop_snapshot();
    if (!service_.kept().all().own().is_orphaned()) {
      recent_calls::end_repeats(arguments_.comm);  // they are counted before this end
      service_.kept().last = chosen_;
    }
    usage run;
    run.add(service_.bytes_sent(), PMPI_Wtime() - begin_, clock());
    process::get().count_ended(service_.kept().all(), *algorithm_, arguments_.name(), arguments_.form(), run);
  }

 private:
  using decision_type = std::remove_pointer_t<decltype(std::declval<Service&>().plan(MPI_INFO_NULL))>;
  using algorithm_type = decltype(decision_type::algorithm);

  template <typename Kept>
  static std::optional<phase_clock> clock_of(Kept& kept) {
    return kept.phases() ? std::optional(*kept.phases()) : std::nullopt;
  }
  phase_clock* clock() { return clock_ ? &*clock_ : nullptr; }

  // Keeps the decision, whatever is decided for later calls. Returns whether there is a schedule.
  bool keep(decision_type* chosen) {
    chosen_ = chosen;
    if (!chosen || !chosen->algorithm->has_schedule()) return false;
    algorithm_ = chosen->algorithm;
    if (process::get().set().verify) sums_.emplace(service_.kept().all().messages(), service_.ends());
    return true;
  }
  bool have_sums_ended() {
    if (sums_ && moving_.failure()) sums_->abandon();
    return !sums_ || sums_->test();
  }
  void verify() {
    if (!sums_) return;
    sums_->require_equal(service_.received());
    process::get().count_verified(service_.kept().all(), service_.kept().verified_by_sums, service_.bytes_sent());
  }

  const call arguments_;
  std::shared_ptr<state> kept_;
  Service service_;
  std::optional<phase_clock> clock_;  // time between tests counts for the part that ends next
  typename Service::moving moving_;
  std::optional<tag_turns::place> place_;
  std::optional<block_sums> sums_;   // if results are verified
  decision_type* chosen_ = nullptr;  // gone if the program has freed its communicator
  algorithm_type algorithm_{};
  double begin_ = 0;
};

// An exchange for a request that runs once; `arguments` stay. Null: the MPI's own collective serves. No rank waits.
template <typename Service>
std::unique_ptr<request::work> work_once(std::shared_ptr<typename Service::state> kept,
                                         const typename Service::call& arguments) {
  auto work = std::make_unique<exchange_work<Service>>(std::move(kept), arguments);
  return work->prepare_once() ? std::move(work) : nullptr;
}

// The same for a request that runs many times; collective. `info` may name the algorithm. Throws if another rank's
// arguments are wrong.
template <typename Service>
std::unique_ptr<request::work> work_repeated(std::shared_ptr<typename Service::state> kept,
                                             const typename Service::call& arguments, MPI_Info info) {
  auto work = std::make_unique<exchange_work<Service>>(std::move(kept), arguments);
  return work->prepare_repeated(info) ? std::move(work) : nullptr;
}

}  // namespace shoal
