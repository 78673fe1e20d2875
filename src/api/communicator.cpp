#include "api/communicator.hpp"

#include <limits.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
#include <fstream>
#include <system_error>

#include "api/devices.hpp"
#include "api/errors.hpp"
#include "api/job.hpp"
#include "api/progress.hpp"

namespace shoal {

namespace {

// Ranks with equal names share memory and cores: the host, its boot, and the IPC namespace of a container.
std::uint64_t node_name() {
  std::array<char, 256> host{}, space{};
  gethostname(host.data(), host.size() - 1);
  std::string text = host.data(), boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  if (readlink("/proc/self/ns/ipc", space.data(), space.size() - 1) > 0) text += space.data();
  return hash_of(text + boot);
}

// Those that this rank may run on.
std::vector<int> own_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cpus;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  return cpus;
}

// As given, when it is for this many ranks, else as found: a program's smaller communicators have layouts of their own.
node_layout layout_of(const settings& set, const std::vector<int>& found) {
  if (set.layout && set.layout->ranks() == static_cast<int>(found.size())) return *set.layout;
  return node_layout::from_node_ids(found);
}

}  // namespace

struct communicator::card {
  std::uint64_t node = node_name();
  std::uint64_t domain = 0;              // what counts as a node of the layout, within the node
  std::array<std::uint64_t, 16> cpus{};  // this rank's affinity mask
  std::int64_t quota = 0;                // whole cores its container allows
  std::int64_t devices = device_runtime_loaded();

  explicit card(node_level level) {
    const std::vector<int> mine = own_cpus();
    for (const int cpu : mine) cpus[cpu / 64 % cpus.size()] |= std::uint64_t{1} << cpu % 64;
    domain = hash_of(domain_of(mine, level));
    quota = quota_cores(CPU_SETSIZE);
  }
};

// What every rank has to say, by rank.
template <typename T>
static std::vector<T> gather_values(communicator& of, const T& mine) {
  const std::vector<std::byte> bytes = of.gather(std::as_bytes(std::span(&mine, 1)));
  std::vector<T> all(static_cast<std::size_t>(of.ranks()), mine);
  std::memcpy(static_cast<void*>(all.data()), bytes.data(), bytes.size());
  return all;
}

communicator::communicator(MPI_Comm own, const settings& set)
    : own_(own),
      over_(own),
      requests_(collective::alltoall, set, agreement_, [this](const selection& how) -> auto& { return prepare(how); }) {
  at_.ranks = over_.ranks();
  try {
    begin_turns();
    survey(set);
    if (set.report == reporting::phases) exchange_.record_phases(&phases_.emplace(at_.nodes.get(), rank()));
    choices_.follow(set);
    wait_.move_meanwhile([] { return progress::get().move(); });
    limit_.most = set.max_temp;
  } catch (...) {
    release();
    throw;
  }
}

communicator::~communicator() { release(); }

// Behind those of all communicators before: MPIs give the identity of one that is freed to the next, and with it what was
// sent there and never received.
static std::atomic<std::uint64_t> turns_before = 0;

void communicator::begin_turns() {
  auto number = static_cast<std::int64_t>(turns_before.load());
  constexpr combine latest = combine::maximum;
  agreement_.reach({&number, 1}, {&latest, 1});
  turns_.begin_at(static_cast<std::uint64_t>(number));
}

void communicator::release() {
  for (std::uint64_t before = turns_before; before < turns_.next();)
    if (turns_before.compare_exchange_weak(before, turns_.next())) break;
  if (own_ != MPI_COMM_SELF) PMPI_Comm_free(&own_);
}

// Ranks outnumber cores on a node when more ranks are there than cores in the union of their masks.
void communicator::survey(const settings& set) {
  struct node {
    int ranks = 0;
    std::array<std::uint64_t, 16> cpus{};
    std::int64_t quota = CPU_SETSIZE;
  };
  std::map<std::uint64_t, node> nodes;
  std::map<std::pair<std::uint64_t, std::uint64_t>, int> numbers;  // of the layout's nodes
  std::vector<int> node_of_rank;
  for (const card& c : gather_values(*this, card(set.nodes_share))) {
    const int next = static_cast<int>(numbers.size());
    node_of_rank.push_back(numbers.try_emplace({c.node, c.domain}, next).first->second);
    node& n = nodes[c.node];
    ++n.ranks;
    for (std::size_t i = 0; i < n.cpus.size(); ++i) n.cpus[i] |= c.cpus[i];
    n.quota = std::min(n.quota, c.quota);
    devices_ = devices_ || c.devices;
  }
  cores_ = CPU_SETSIZE;
  for (const auto& [name, n] : nodes) {
    std::int64_t cores = 0;
    for (std::uint64_t word : n.cpus) cores += std::popcount(word);
    cores = std::min(cores, n.quota);
    crowded_ = crowded_ || n.ranks > cores;
    cores_ = std::min(cores_, static_cast<int>(cores));
  }
  at_.nodes = std::make_shared<const node_layout>(layout_of(set, node_of_rank));
  wait_ = waiting(set.wait.value_or(crowded_ ? wait_mode::yield : wait_mode::spin));
  if (set.topology) at_.switches = place_ranks(*set.topology);
}

// The topology with this communicator's ranks on their machines. Throws where it does not have all of them.
std::shared_ptr<const switch_network> communicator::place_ranks(switch_network network) {
  std::array<char, HOST_NAME_MAX + 1> mine{};
  gethostname(mine.data(), mine.size() - 1);
  std::vector<std::string> hosts;
  for (const auto& host : gather_values(*this, mine)) hosts.emplace_back(host.data());
  try {
    network.place_ranks(hosts);
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(std::string("SHOAL_TOPOLOGY: ") + error.what());
  }
  return std::make_shared<const switch_network>(std::move(network));
}

job_description communicator::job() const { return {mpi_version(), machine_name(cores_), *at_.nodes}; }

// An all-to-all whose blocks are all the same is an allgather, and it waits politely already.
std::vector<std::byte> communicator::gather(std::span<const std::byte> mine) {
  const auto bytes = static_cast<std::int64_t>(mine.size());
  std::vector<std::byte> all(mine.size() * static_cast<std::size_t>(ranks()));
  payload what;
  what.uniform = mine.size();
  what.send.base = const_cast<std::byte*>(mine.data());
  what.send.counts = what.recv.counts = number_array::linear(bytes, 0);
  what.recv.base = all.data();
  what.recv.displacements = number_array::linear(0, bytes);
  run(*prepare(parse_selection("tuna:radix=2")).steps, what);
  return all;
}

prepared& communicator::prepare(const selection& how) {
  const std::string spec = to_string(how);
  if (const auto it = prepared_.find(spec); it != prepared_.end()) return it->second;
  prepared ready;
  ready.spec = spec;
  if (how.which->generate) ready.steps = std::make_unique<program>(generate(how, at_, rank()));
  ready.looks_at_sizes = how.which->looks_at_sizes && how.which->looks_at_sizes(at_, how.with);
  return prepared_.emplace(spec, std::move(ready)).first->second;
}

// Tried once for a communicator.
node_exchange* communicator::inside_nodes() {
  if (tried_to_share_) return inside_nodes_.get();
  tried_to_share_ = true;
  inside_nodes_ = share_inside_nodes(over_);
  if (inside_nodes_) inside_nodes_->record_phases(phases());
  return inside_nodes_.get();
}

std::unique_ptr<node_exchange> communicator::share_inside_nodes(transport& over, std::size_t most) {
  if (at_.nodes->largest_node() == 1) return nullptr;
  try {
    return std::make_unique<node_exchange>(pool_, over, wait_, *at_.nodes, most);
  } catch (const std::system_error& error) {  // the same on every rank
    warn_once("no memory can be shared inside a node: " + error.code().message(), "blocks travel as messages");
    return nullptr;
  }
}

std::vector<double> communicator::slowest(const std::vector<double>& mine) {
  const std::vector<combine> how(mine.size(), combine::maximum);
  std::vector<std::int64_t> nanoseconds;
  for (double seconds : mine) nanoseconds.push_back(std::llround(seconds * 1e9));
  agreement_.reach(nanoseconds, how);
  std::vector<double> all;
  for (std::int64_t n : nanoseconds) all.push_back(static_cast<double>(n) * 1e-9);
  return all;
}

tag_turns::turn communicator::next_turn() {
  tag_turns::turn turn = turns_.take();
  while (!turn.has_come()) wait_.idle();
  return turn;
}

void communicator::run(const program& how, const payload& what) {
  if (phases_) phases_->begin();
  const tag_turns::turn turn = next_turn();
  if (node_exchange* const inside = how.plan.shared_memory ? inside_nodes() : nullptr) {
    inside->set_tags(turn.tags());
    inside->start(how, what);
    inside->run_to_end();
    return raise(inside->failure());
  }
  exchange_.set_tags(turn.tags());
  exchange_.start(how, what);
  exchange_.run_to_end(wait_);
  raise(exchange_.failure());
}

void communicator::report_to(usage_report& report) const {
  for (const auto& [spec, ready] : prepared_) {
    report.add("alltoall", ranks(), spec, ready.uniform_use);
    report.add("alltoallv", ranks(), spec, ready.nonuniform_use);
  }
  choices_.report_to(report);
  report.add_verified(verified);
}

}  // namespace shoal
