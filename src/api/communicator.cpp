#include "api/communicator.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <fstream>

#include "api/devices.hpp"

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

// Sizes that differ by less than a factor of two, and similar shares of empty blocks, are chosen for once.
std::uint64_t size_class(const features& sizes, bool uniform) {
  const auto level = [](std::int64_t bytes) { return static_cast<std::uint64_t>(std::bit_width(static_cast<std::uint64_t>(bytes))); };
  const auto empty = static_cast<std::uint64_t>(sizes.empty_share() * 8);
  return level(sizes.total_bytes) << 32 | level(sizes.largest_block) << 16 | level(sizes.most_sent) << 8 | empty << 1 | uniform;
}

}  // namespace

struct communicator::card {
  std::uint64_t node = node_name();
  std::array<std::uint64_t, 16> cpus{};  // this rank's affinity mask
  std::int64_t quota = 0;                // whole cores its container allows
  std::int64_t devices = device_runtime_loaded();

  card() {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) == 0)
      for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
        if (CPU_ISSET(cpu, &set)) cpus[cpu / 64 % cpus.size()] |= std::uint64_t{1} << cpu % 64;
    quota = quota_cores(CPU_SETSIZE);
  }
};

communicator::communicator(MPI_Comm own, const settings& set) : own_(own), over_(own) {
  at_.ranks = over_.ranks();
  requested_[0] = set.alltoallv;
  requested_[1] = set.alltoall;
  survey(set);
}

communicator::~communicator() {
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
  for (const card& c : exchange_cards()) {
    node& n = nodes[c.node];
    ++n.ranks;
    for (std::size_t i = 0; i < n.cpus.size(); ++i) n.cpus[i] |= c.cpus[i];
    n.quota = std::min(n.quota, c.quota);
    devices_ = devices_ || c.devices;
  }
  where_.nodes = static_cast<int>(nodes.size());
  for (const auto& [name, n] : nodes) {
    std::int64_t cores = 0;
    for (std::uint64_t word : n.cpus) cores += std::popcount(word);
    where_.crowded = where_.crowded || n.ranks > std::min(cores, n.quota);
    where_.most_ranks_per_node = std::max(where_.most_ranks_per_node, n.ranks);
  }
  wait_ = waiting(set.wait.value_or(where_.crowded ? wait_mode::yield : wait_mode::spin));
}

// An all-to-all whose blocks are all the same is an allgather, and it waits politely already.
std::vector<communicator::card> communicator::exchange_cards() {
  const card mine;
  std::vector<card> all(static_cast<std::size_t>(ranks()), mine);
  payload what;
  what.uniform = true;
  what.send.base = reinterpret_cast<std::byte*>(const_cast<card*>(&mine));
  what.send.counts = what.recv.counts = number_array::linear(sizeof(card), 0);
  what.recv.base = reinterpret_cast<std::byte*>(all.data());
  what.recv.displacements = number_array::linear(0, sizeof(card));
  run(prepare(parse_selection("tuna:radix=2"), "to learn where ranks are"), what);
  return all;
}

prepared* communicator::requested(bool uniform) {
  if (!requested_[uniform]) return nullptr;
  if (!requested_ready_[uniform]) requested_ready_[uniform] = &prepare(*requested_[uniform], "asked for");
  return requested_ready_[uniform];
}

void communicator::request(bool uniform, std::optional<selection> how) {
  requested_[uniform] = std::move(how);
  requested_ready_[uniform] = nullptr;
}

bool communicator::same_everywhere(std::uint64_t value) {
  const auto half = static_cast<std::int64_t>(value >> 1);
  std::array<std::int64_t, 2> values{half, -half};
  constexpr std::array how{combine::maximum, combine::maximum};
  agreement_.reach(values, how);
  return values[0] == -values[1];
}

prepared& communicator::prepare(const selection& how, const std::string& reason) {
  std::string spec = to_string(how);
  const auto [it, fresh] = prepared_.try_emplace(spec);
  prepared& ready = it->second;
  if (fresh) {
    ready.how = how;
    ready.spec = std::move(spec);
    ready.reason = reason;
    if (how.which->generate) ready.steps = std::make_unique<program>(generate(how, at_, rank()));
  }
  return ready;
}

prepared& communicator::choose_for(const features& sizes, bool uniform) {
  prepared*& ready = chosen_[size_class(sizes, uniform)];
  if (!ready) {
    const choice best = choose(at_, where_, sizes, uniform);
    ready = &prepare(best.how, best.reason);
  }
  return *ready;
}

void communicator::run(const prepared& how, const payload& what) {
  exchange_.start(*how.steps, what);
  for (bool moved = true; !exchange_.done();) {
    exchange_.progress(moved);
    moved ? wait_.progressed() : wait_.idle();
  }
}

void communicator::report_to(usage_report& report) const {
  for (const auto& [spec, ready] : prepared_) {
    report.add("alltoall", ranks(), spec, ready.uniform_use);
    report.add("alltoallv", ranks(), spec, ready.nonuniform_use);
  }
  report.add_verified(verified);
}

}  // namespace shoal
