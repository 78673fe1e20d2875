#include "learn/intercommunicator.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "transport/mpi_error.hpp"

namespace shoal {

namespace {

constexpr int shoals = 1;  // the candidate beside the MPI's own

// The class of a size, by its power of two: Shoal chooses once for all sizes of a class.
std::uint64_t size_of(const direction_sizes& d) {
  return static_cast<std::uint64_t>(std::bit_width(static_cast<std::uint64_t>(d.largest)));
}

// The number of ranks in the first group. The merged communicator holds the groups one after the other, so a rank that
// keeps its number is in the first.
int first_of_groups(MPI_Comm groups, int rank_of_all) {
  int rank = 0, own = 0, others = 0;
  require(PMPI_Comm_rank(groups, &rank), "MPI_Comm_rank");
  require(PMPI_Comm_size(groups, &own), "MPI_Comm_size");
  require(PMPI_Comm_remote_size(groups, &others), "MPI_Comm_remote_size");
  return rank_of_all == rank ? own : others;
}

}  // namespace

intercommunicator::intercommunicator(job_state& job, MPI_Comm users, MPI_Comm merged, const settings& set)
    : job_(job),
      all_(merged, users, set),
      agreements_(merged, job.books(), all_.wait()),
      first_group_(first_of_groups(users, all_.rank())),
      network_(set.network),
      exchange_(all_, all_.phases()),
      named_(collective::allgather, set, all_, [this](const selection& chosen) -> auto& { return plan_of(chosen); }) {}

// ---- schedules -------------------------------------------------------------------------------------------------

problem intercommunicator::groups(int direction) const {
  problem at;
  at.ranks = ranks();
  at.senders = senders(direction);
  return at;
}

// A schedule numbers the senders first. Its ranks are renumbered here to those of the communicator.
linked_schedule intercommunicator::make_schedule(const selection& chosen, int direction) const {
  schedule plan = generate(chosen, groups(direction), schedule_rank(direction));
  for (operation& op : plan.operations)
    if (op.kind != op_kind::copy) op.peer = (op.peer + first_of(direction)) % ranks();
  plan.rank = rank();
  return linked_schedule(std::move(plan));
}

group_plan& intercommunicator::plan_of(const selection& chosen) {
  require_service(chosen);
  group_plan& plan = plans_[to_string(chosen)];
  plan.spec = to_string(chosen);
  plan.chosen = chosen;
  return plan;
}

void intercommunicator::make_ready(group_plan& algorithm, const group_sizes& sizes) {
  if (!algorithm.has_schedule()) return;
  for (int d = 0; d < 2; ++d)
    if (sizes.toward[d].largest > 0 && !algorithm.steps[d])
      algorithm.steps[d] = std::make_unique<linked_schedule>(make_schedule(algorithm.chosen, d));
}

void intercommunicator::require_service(const selection& chosen) const {
  if (!chosen.which->refuses) return;
  const auto first = chosen.which->refuses(groups(0), chosen.with),
             second = chosen.which->refuses(groups(1), chosen.with);
  if (first && second)
    throw std::invalid_argument(to_string(chosen) + " cannot serve groups of " + std::to_string(senders(0)) + " and " +
                                std::to_string(senders(1)) + " ranks: " + *first);
}

group_exchange::both_ways intercommunicator::schedules_of(const group_plan& algorithm, const group_sizes& sizes) {
  group_exchange::both_ways all{};
  for (int d = 0; d < 2; ++d)
    if (sizes.toward[d].largest > 0) all[d] = algorithm.steps[d].get();
  return all;
}

void intercommunicator::run(const group_plan& algorithm, const group_sizes& sizes, const std::array<payload, 2>& what) {
  const tag_turns::turn turn = all_.next_turn();
  exchange_.set_tags(turn.tags());
  exchange_.start(schedules_of(algorithm, sizes), what);
  exchange_.run_to_end(all_.wait());
  raise(exchange_.failure());
}

// ---- choice ----------------------------------------------------------------------------------------------------

const group_decision* intercommunicator::choose(const group_sizes& sizes) {
  std::vector<group_flow> flows;
  for (int d = 0; d < 2; ++d)
    if (const direction_sizes& toward = sizes.toward[d]; toward.largest > 0)
      flows.push_back({groups(d), static_cast<double>(toward.largest)});
  group_decision& ready = chosen_[size_of(sizes.toward[0]) << 8 | size_of(sizes.toward[1])];
  if (!ready.algorithm) {
    const choice best = flows.empty() ? choice{schedule_of(network_), "there is nothing to send"}
                                      : choose_between_groups(flows, network_);
    ready = {&plan_of(best.algorithm), best.reason};
  }
  return &ready;
}

// Both groups know the sizes of the messages of MPI_Allgather. Of those of MPI_Allgatherv a rank knows only some, so
// all these calls count as one size.
bool intercommunicator::begin(bool uniform, const group_sizes& sizes) {
  const std::uint64_t size = uniform ? size_of(sizes.toward[0]) << 8 | size_of(sizes.toward[1]) : 0;
  const auto [it, fresh] = fields_[uniform].try_emplace(size);
  contest& field = it->second;
  if (fresh) field.open(shoals);
  if (fresh && job_.set().names_network()) field.prefer(shoals);  // the user names the network for this
  last_ = {&field, field.best() == contest::native && field.passes()};
  return field.next() == shoals;
}

const group_decision* intercommunicator::natives() {
  if (!natives_.algorithm)
    natives_ = {&plan_of(parse_selection("native", collective::allgather)), "until another is faster"};
  return &natives_;
}

void intercommunicator::end(const counting& in, double seconds) {
  last_ = in;
  if (in.passes) return;
  job_.books().called(seconds);
  if (!in.field) return;
  in.field->took(seconds, 0, PMPI_Wtime());
  if (in.field->is_due()) review(*in.field);
}

int intercommunicator::untimed_left() const {
  if (!last_.field) return last_.is_native_named ? std::numeric_limits<int>::max() : 0;
  return last_.field->best() == contest::native ? last_.field->untimed_left() : 0;
}

void intercommunicator::have_passed(int calls) {
  if (last_.field) last_.field->pass(calls);
}

void intercommunicator::take_back_passed() {
  if (last_.field) last_.field->take_back();
}

// Removes a field without calls, because other ranks may never make one like it.
void intercommunicator::take_back(const counting& in) {
  last_ = {};
  if (in.passes) in.field->take_back();
  for (auto& fields : fields_)
    std::erase_if(fields, [&](const auto& one) { return &one.second == in.field && in.field->calls() == 0; });
}

void intercommunicator::review(contest& of) {
  const agreements::payment paying(agreements_);
  rank_terms mine;
  of.write(mine.of_contest, PMPI_Wtime());
  job_.books().called(of.passed_seconds());
  mine.times = agreements_.times();
  constexpr int sharing = 1;  // nobody has told how many ranks share a core
  agreements_.hear(agreed_terms(agreements_.agree(mine.numbers(), nullptr)), of, sharing);
}

bool intercommunicator::is_ahead(bool uniform) const {
  const auto& fields = fields_[uniform];
  return std::any_of(fields.begin(), fields.end(), [](const auto& f) { return f.second.choice() == shoals; });
}

}  // namespace shoal
