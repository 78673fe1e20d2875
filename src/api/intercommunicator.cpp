#include "api/intercommunicator.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace shoal {

namespace {

// Calls before anything is measured: an inter-communicator used only once or twice is not worth measuring.
constexpr int unmeasured_calls = 3;

// Sizes that differ by less than a factor of two are chosen for once.
std::uint64_t level(const direction_sizes& d) {
  return static_cast<std::uint64_t>(std::bit_width(static_cast<std::uint64_t>(d.largest)));
}

}  // namespace

// The merged communicator holds the groups one after the other: a rank that keeps its number is in the first.
intercommunicator::intercommunicator(MPI_Comm merged, int local_rank, int remote_size, const settings& set)
    : all_(merged, set),
      first_group_(all_.rank() == local_rank ? all_.ranks() - remote_size : remote_size),
      network_(set.network),
      exchange_(merged, all_.phases()),
      requests_(collective::allgather, set, all_.agree(),
                [this](const selection& how) -> auto& { return plan_of(how); }) {}

// ---- schedules -------------------------------------------------------------------------------------------------

problem intercommunicator::groups(int direction) const {
  problem at;
  at.ranks = ranks();
  at.senders = senders(direction);
  return at;
}

// A schedule numbers the senders first; its ranks become those of the communicator.
program intercommunicator::make_program(const selection& how, int direction) const {
  schedule plan = generate(how, groups(direction), schedule_rank(direction));
  for (operation& op : plan.operations)
    if (op.kind != op_kind::copy) op.peer = (op.peer + first_of(direction)) % ranks();
  plan.rank = rank();
  return program(std::move(plan));
}

group_plan& intercommunicator::plan_of(const selection& how) {
  require_service(how);
  group_plan& plan = plans_[to_string(how)];
  plan.spec = to_string(how);
  plan.how = how;
  return plan;
}

void intercommunicator::make_ready(group_plan& how, const group_sizes& sizes) {
  if (!how.how.which->generate) return;
  for (int d = 0; d < 2; ++d)
    if (sizes.toward[d].largest > 0 && !how.steps[d])
      how.steps[d] = std::make_unique<program>(make_program(how.how, d));
}

void intercommunicator::require_service(const selection& how) const {
  if (!how.which->refuses) return;
  const auto first = how.which->refuses(groups(0), how.with), second = how.which->refuses(groups(1), how.with);
  if (first && second)
    throw std::invalid_argument(to_string(how) + " cannot serve groups of " + std::to_string(senders(0)) + " and " +
                                std::to_string(senders(1)) + " ranks: " + *first);
}

group_exchange::programs intercommunicator::programs_of(const group_plan& how, const group_sizes& sizes) {
  group_exchange::programs all{};
  for (int d = 0; d < 2; ++d)
    if (sizes.toward[d].largest > 0) all[d] = how.steps[d].get();
  return all;
}

void intercommunicator::run(const group_plan& how, const group_sizes& sizes, const std::array<payload, 2>& what) {
  const tag_turns::turn turn = all_.next_turn();
  exchange_.set_tags(turn.tags());
  exchange_.start(programs_of(how, sizes), what);
  exchange_.run_to_end(all_.wait());
  raise(exchange_.failure());
}

// ---- choice ----------------------------------------------------------------------------------------------------

const group_decision* intercommunicator::choose(const group_sizes& sizes, MPI_Comm users, bool repeated) {
  const bool measured = repeated || automatic_calls_ >= unmeasured_calls;
  automatic_calls_ += !measured;
  std::vector<group_flow> flows;
  for (int d = 0; d < 2; ++d) {
    if (sizes.toward[d].largest == 0) continue;
    if (measured && !measured_[d]) measured_[d] = measure(d, users);
    flows.push_back({senders(d), senders(1 - d), static_cast<double>(sizes.toward[d].largest),
                     measured ? measured_[d] : std::nullopt});
  }
  group_decision& ready = chosen_[level(sizes.toward[0]) << 16 | level(sizes.toward[1]) << 8 | measured];
  if (!ready.how) {
    const choice best =
        flows.empty() ? choice{plain(), "there is nothing to send"} : choose_between_groups(flows, network_);
    ready = {&plan_of(best.how), best.reason};
  }
  return &ready;
}

// Mean seconds of a call that all ranks make together, the slowest rank's, once it is warmed up.
template <typename Call>
double intercommunicator::seconds_of(int repetitions, Call call) {
  call();
  const double begin = PMPI_Wtime();
  for (int i = 0; i < repetitions; ++i) call();
  std::int64_t nanoseconds = std::llround((PMPI_Wtime() - begin) * 1e9 / repetitions);
  constexpr combine slowest = combine::maximum;
  all_.agree().reach({&nanoseconds, 1}, {&slowest, 1});
  return static_cast<double>(nanoseconds) * 1e-9;
}

measured_direction intercommunicator::measure(int direction, MPI_Comm users) {
  constexpr std::int64_t most_bytes = 1 << 20;  // of one rank's buffer
  measured_direction seconds;
  seconds.large = std::clamp<std::int64_t>(most_bytes / senders(direction), 1024, seconds.large);
  const bool sender = sends(direction);
  const auto room = static_cast<std::size_t>(sender ? seconds.large : seconds.large * senders(direction));
  const pool_memory of_pool(all_.pool(), room);
  std::byte* const memory = of_pool.data();
  std::memset(memory, 0, room);
  group_plan& plain_plan = plan_of(plain());

  const auto native = [&](std::int64_t bytes) {
    const int sent = sender ? static_cast<int>(bytes) : 0, received = sender ? 0 : static_cast<int>(bytes);
    PMPI_Allgather(sender ? memory : nullptr, sent, MPI_BYTE, sender ? nullptr : memory, received, MPI_BYTE, users);
  };
  const auto own = [&](std::int64_t bytes) {
    group_sizes sizes;
    sizes.toward[direction].largest = bytes;
    std::array<payload, 2> what;
    payload& moves = what[direction];
    moves.uniform = static_cast<std::size_t>(bytes);
    (sender ? moves.send : moves.recv).base = memory;
    (sender ? moves.send : moves.recv).counts = number_array::linear(bytes, 0);
    (sender ? moves.send : moves.recv).displacements = number_array::linear(0, bytes);
    make_ready(plain_plan, sizes);
    run(plain_plan, sizes, what);
  };
  constexpr int many = 8, few = 4;
  seconds.native_small = seconds_of(many, [&] { native(seconds.small); });
  seconds.plain_small = seconds_of(many, [&] { own(seconds.small); });
  seconds.native_large = seconds_of(few, [&] { native(seconds.large); });
  seconds.plain_large = seconds_of(few, [&] { own(seconds.large); });
  return seconds;
}

void intercommunicator::report_to(usage_report& report) const {
  for (const auto& [spec, plan] : plans_) {
    report.add("allgather", ranks(), spec, plan.uniform_use);
    report.add("allgatherv", ranks(), spec, plan.nonuniform_use);
  }
  report.add_verified(verified);
}

}  // namespace shoal
