#include "api/communicator.hpp"

#include <limits.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <system_error>
#include <utility>

#include "api/devices.hpp"
#include "api/errors.hpp"
#include "api/job.hpp"
#include "api/measuring.hpp"
#include "execute/scratch.hpp"
#include "shoal/shoal.h"

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

// Calls of a kind before anything is measured: a communicator used only a few times is not worth it.
constexpr int unmeasured_calls = 20;

// A class of all sizes, which size_class() gives to none.
constexpr std::uint64_t any_sizes = ~std::uint64_t{0};

// Calls whose bytes, full blocks, and bytes of the most loaded rank differ by less than a factor of two are chosen for
// once.
std::uint64_t size_class(const features& sizes) {
  const auto level = [&](std::int64_t sum) {
    return static_cast<std::uint64_t>(std::bit_width(static_cast<std::uint64_t>(sum / sizes.calls)));
  };
  return level(sizes.total_bytes) << 16 | level(sizes.full_blocks) << 8 | level(sizes.most_loaded);
}

// As given, when it is for this many ranks, else as found: a program's smaller communicators have layouts of their own.
node_layout layout_of(const settings& set, const std::vector<int>& found) {
  if (set.layout && set.layout->ranks() == static_cast<int>(found.size())) return *set.layout;
  return node_layout::from_node_ids(found);
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

communicator::communicator(MPI_Comm own, const settings& set)
    : own_(own),
      over_(own),
      requests_(collective::alltoall, set, agreement_, [this](const selection& how) -> auto& { return prepare(how); }) {
  at_.ranks = over_.ranks();
  exchange_.set_tags(claim(0));
  try {
    survey(set);
    if (set.report == reporting::phases) exchange_.record_phases(&phases_.emplace(at_.nodes.get(), rank()));
    if (set.profile) adopt(*set.profile);
    tries_ = set.tries;
    max_temp_ = set.max_temp;
  } catch (...) {
    release();
    throw;
  }
}

communicator::~communicator() { release(); }

void communicator::release() {
  if (own_ != MPI_COMM_SELF) PMPI_Comm_free(&own_);
}

// Ranks outnumber cores on a node when more ranks are there than cores in the union of their masks.
void communicator::survey(const settings& set) {
  struct node {
    int number = 0, ranks = 0;
    std::array<std::uint64_t, 16> cpus{};
    std::int64_t quota = CPU_SETSIZE;
  };
  std::map<std::uint64_t, node> nodes;
  std::vector<int> node_of_rank;
  for (const card& c : gather(card())) {
    const auto [it, fresh] = nodes.try_emplace(c.node);
    node& n = it->second;
    if (fresh) n.number = static_cast<int>(nodes.size()) - 1;
    node_of_rank.push_back(n.number);
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
  for (const auto& host : gather(mine)) hosts.emplace_back(host.data());
  try {
    network.place_ranks(hosts);
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(std::string("SHOAL_TOPOLOGY: ") + error.what());
  }
  return std::make_shared<const switch_network>(std::move(network));
}

job_description communicator::job() const { return {mpi_version(), machine_name(cores_), *at_.nodes}; }

// Why a profile for as many ranks does not fit, or nothing; the same answer on every rank but for its words.
std::optional<std::string> communicator::unfit(const profile& from) {
  std::optional<std::string> wrong = misfit(from, job());
  for (const auto& kind : from.kinds)
    for (const auto& [spec, seconds] : kind ? kind->rows.front().seconds : std::map<std::string, double>()) {
      const selection named = parse_selection(spec);
      const auto why = named.which->refuses ? named.which->refuses(at_, named.with) : std::nullopt;
      if (why && !wrong) wrong = from.file + ": " + spec + ": " + *why;
    }
  std::int64_t on_some_rank = wrong.has_value();
  constexpr combine rule = combine::maximum;
  agreement_.reach({&on_some_rank, 1}, {&rule, 1});
  return on_some_rank && !wrong ? from.file + " is not for the machine of another rank" : wrong;
}

// A profile for another number of ranks is worth a word only when that is not the world's: a program has smaller
// communicators too.
void communicator::adopt(const profile& from) {
  int world = 0;
  PMPI_Comm_size(MPI_COMM_WORLD, &world);
  if (from.ranks != ranks() && from.ranks == world) return;
  const auto wrong = from.ranks == ranks() ? unfit(from) : misfit(from, job());
  if (wrong) return warn_once(*wrong, "what is not asked for is measured");
  for (const bool uniform : {false, true})
    if (const auto& kind = from.kinds[uniform]) adopt(uniform, kind->measured("by the profile", ranks()));
  profiled_ = true;
}

// From now on these times decide.
void communicator::adopt(bool uniform, measured_exchanges measured) {
  automatic& kind = automatic_[uniform];
  kind.calls = unmeasured_calls;
  kind.measured = std::move(measured);
  if (uniform) return;
  const unasked_choice without = shoal::choose_unasked(*kind.measured);
  kind.asks = without.when;
  kind.unasked = made(without.best, {static_cast<double>(kind.measured->points.front().block)});
}

decision communicator::made(const choice& best, const block_mix& blocks) {
  return {&prepare(best.how), best.reason, blocks, best.seconds, best.next_seconds, best.next, {}};
}

// What every rank has to say, by rank. An all-to-all whose blocks are all the same is an allgather, and it waits
// politely already.
template <typename T>
std::vector<T> communicator::gather(const T& mine) {
  std::vector<T> all(static_cast<std::size_t>(ranks()), mine);
  payload what;
  what.uniform = sizeof(T);
  what.send.base = reinterpret_cast<std::byte*>(const_cast<T*>(&mine));
  what.send.counts = what.recv.counts = number_array::linear(sizeof(T), 0);
  what.recv.base = reinterpret_cast<std::byte*>(all.data());
  what.recv.displacements = number_array::linear(0, sizeof(T));
  run(prepare(parse_selection("tuna:radix=2")), what);
  return all;
}

prepared& communicator::prepare(const selection& how) {
  const std::string spec = to_string(how);
  if (const auto it = prepared_.find(spec); it != prepared_.end()) return it->second;
  prepared ready;
  ready.spec = spec;
  if (how.which->generate) ready.steps = std::make_unique<program>(generate(how, at_, rank()));
  return prepared_.emplace(spec, std::move(ready)).first->second;
}

// Tried once for a communicator.
node_exchange* communicator::inside_nodes() {
  if (tried_to_share_ || at_.nodes->largest_node() == 1) return inside_nodes_.get();
  tried_to_share_ = true;
  try {
    const exchange::tag_range tags{1, tags_of_channel()};  // of blocking exchanges
    inside_nodes_ = std::make_unique<node_exchange>(pool_, over_, tags, wait_, *at_.nodes);
    inside_nodes_->record_phases(phases());
  } catch (const std::system_error& error) {  // the same on every rank
    warn_once("no memory can be shared inside a node: " + error.code().message(), "blocks travel as messages");
  }
  return inside_nodes_.get();
}

const decision* communicator::choose_unasked(bool uniform, std::int64_t block_bytes) {
  automatic& kind = automatic_[uniform];
  if (kind.calls < unmeasured_calls) {
    ++kind.calls;
    return choose_unmeasured(uniform);
  }
  measure(uniform);
  if (uniform) return choose_for(uniform, features::uniform(ranks(), block_bytes));
  if (kind.asks == asking::always) return nullptr;
  if (tries_) return try_out(uniform, any_sizes, std::nullopt);
  if (kind.asks == asking::never) return &kind.unasked;
  if (kind.calls_left == 0) return nullptr;
  --kind.calls_left;
  return kind.until;
}

const features& communicator::put_off(const features& mine) {
  std::optional<features>& sum = automatic_[false].put_off;
  if (sum) sum->add(mine);
  else sum = mine;
  return mine;
}

features communicator::with_put_off(features mine) {
  if (const auto earlier = std::exchange(automatic_[false].put_off, std::nullopt)) mine.add(*earlier);
  return mine;
}

const decision* communicator::choose_at_once(bool uniform, std::int64_t block_bytes) {
  const automatic& kind = automatic_[uniform];
  if (!kind.measured) return choose_unmeasured(uniform);
  if (uniform) return choose_for(uniform, features::uniform(ranks(), block_bytes), over_messages);
  const prepared* unasked = kind.asks == asking::always ? nullptr : kind.unasked.how;
  const bool shared = unasked && unasked->steps && unasked->steps->plan.shared_memory;
  return unasked && !shared ? &kind.unasked : choose_unmeasured(uniform);
}

const decision* communicator::choose_unmeasured(bool uniform) {
  decision& ready = automatic_[uniform].unmeasured;
  if (!ready.how) {
    const choice likely = shoal::choose_unmeasured(crowded_);
    ready = made(likely, {});
  }
  return &ready;
}

void communicator::measure(bool uniform) {
  if (!automatic_[uniform].measured) adopt(uniform, measure_exchanges(*this, uniform));
}

const decision* communicator::choose_for(bool uniform, const features& sizes, ways allowed) {
  automatic& kind = automatic_[uniform];
  const std::uint64_t wanted = size_class(sizes) << 1 | (allowed == over_messages);
  if (tries_ && allowed == all_ways) return try_out(uniform, wanted, sizes.mix());
  if (!kind.last || kind.last_class != wanted) {
    decision& ready = kind.by_sizes[wanted];
    const block_mix blocks = sizes.mix();
    if (!ready.how)
      ready = made(choose(allowed == all_ways ? *kind.measured : kind.measured->without("shared"), blocks), blocks);
    kind.last_class = wanted;
    kind.last = &ready;
  }
  if (kind.asks == asking::at_times && allowed == all_ways) {
    kind.until = kind.last;
    kind.calls_left = calls_between(kind.measured->asking, kind.last->seconds) - 1;
  }
  return kind.last;
}

// Of the rank that may need most.
std::int64_t communicator::most_scratch(const prepared& how, bool uniform, const scratch_needs& mine) {
  const scratch_bound bound = bound_scratch(*how.steps, uniform, exchange::standard_inline_bytes);
  std::array<std::int64_t, 4> values{bound.bytes, bound.blocks, mine.largest_block, mine.packed};
  constexpr std::array rules{combine::maximum, combine::maximum, combine::maximum, combine::maximum};
  agreement_.reach(values, rules);
  return scratch_bound{values[0], values[1]}.with(values[2], values[3]);
}

const decision* communicator::within_limit(const decision* chosen, bool uniform, const scratch_needs& mine) {
  if (!max_temp_) return chosen;
  const std::int64_t most = most_scratch(*chosen->how, uniform, mine);
  if (most <= *max_temp_) return chosen;
  prepared& straight = prepare(parse_selection("spread_out"));
  const bool fits = most_scratch(straight, uniform, mine) <= *max_temp_;
  prepared& instead = fits ? straight : prepare(parse_selection("native"));
  decision& ready = replaced_[chosen->how->spec + " " + instead.spec];
  if (ready.how) return &ready;
  const std::string why = chosen->how->spec + " may need " + std::to_string(most) +
                          " bytes of scratch memory on a rank, SHOAL_MAX_TEMP allows " + std::to_string(*max_temp_);
  warn_once(why, fits ? "using spread_out, which needs none" : "using the MPI library's own collective");
  ready.how = &instead;
  ready.reason = why;
  return &ready;
}

const decision* communicator::try_out(bool uniform, std::uint64_t sizes, const std::optional<block_mix>& blocks) {
  automatic& kind = automatic_[uniform];
  auto it = kind.on_trial.find(sizes);
  if (it == kind.on_trial.end()) {
    const std::vector<std::string> specs = likely(*kind.measured, blocks);
    it = kind.on_trial.emplace(sizes, tried{trial(specs.size()), {}, {}}).first;
    for (const std::string& spec : specs)
      it->second.ways.push_back(made({parse_selection(spec), "being tried on the program's own exchanges"}, {}));
    for (decision& way : it->second.ways) way.on_trial = &it->second.turns;
  }
  tried& one = it->second;
  if (!one.turns.over()) return &one.ways[one.turns.next()];
  if (!one.settled.how) settle(one, blocks.value_or(block_mix{}));
  return &one.settled;
}

// By what the ways took on the rank where they took longest.
void communicator::settle(tried& one, const block_mix& blocks) {
  const std::string calls = std::to_string(one.ways.size() * trial::rounds);
  measured_exchanges found;
  found.specs.clear();
  for (const decision& way : one.ways) found.specs.push_back(way.how->spec);
  found.source = "tried in " + calls + " of the program's own exchanges";
  found.points = {{0, slowest(one.turns.medians())}, {1, {}}};
  found.points[1].seconds = found.points[0].seconds;
  one.settled = made(choose(found, blocks), blocks);
  char cost[64];
  std::snprintf(cost, sizeof cost, "; trying took %.1f us more in %s calls", one.turns.cost() * 1e6, calls.c_str());
  one.settled.remark = cost;
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

// Channel 0 is for blocking exchanges, the lower half of the others for nonblocking ones, in turns; what is still open
// after all others were used is refused. Persistent ones take the lowest of the upper half that is free on every rank
// and above all that some rank has in use: ranks release theirs at different times.
exchange::tag_range communicator::claim(int channel) {
  if (channel >= channels || channels_[channel])
    throw std::runtime_error("more than " + std::to_string(channels / 2 - 1) +
                             " requests are open on a communicator; complete or free some");
  channels_[channel] = true;
  return {1 + channel * tags_of_channel(), tags_of_channel()};
}

exchange::tag_range communicator::nonblocking_tags() {
  last_nonblocking_ = last_nonblocking_ % (channels / 2 - 1) + 1;
  return claim(last_nonblocking_);
}

exchange::tag_range communicator::persistent_tags() {
  std::int64_t next = channels;
  while (next > channels / 2 && !channels_[next - 1]) --next;
  constexpr combine highest = combine::maximum;
  agreement_.reach({&next, 1}, {&highest, 1});
  return claim(static_cast<int>(next));
}

void communicator::release_tags(exchange::tag_range tags) { channels_[(tags.first - 1) / tags_of_channel()] = false; }

void communicator::run(const prepared& how, const payload& what) {
  if (phases_) phases_->begin();
  if (node_exchange* const inside = how.steps->plan.shared_memory ? inside_nodes() : nullptr)
    return inside->run(*how.steps, what);
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
  for (const bool uniform : {false, true}) {
    const auto add = [&](const decision& d) {
      if (d.how && d.seconds > 0)
        report.add_choice({uniform ? "alltoall" : "alltoallv", ranks(), d.how->spec, d.blocks, d.seconds, d.next,
                           d.next_seconds, d.remark},
                          d.use);
    };
    add(automatic_[uniform].unasked);
    for (const auto& [sizes, chosen] : automatic_[uniform].by_sizes) add(chosen);
    for (const auto& [sizes, one] : automatic_[uniform].on_trial) add(one.settled);
  }
  report.add_verified(verified);
}

std::optional<profile> communicator::learned() const {
  const job_description here = job();
  profile found;
  found.shoal.text = SHOAL_VERSION;
  found.mpi.text = here.mpi;
  found.machine.text = here.machine;
  found.layout.text = to_string(here.layout);
  found.ranks = ranks();
  for (const bool uniform : {false, true}) {
    const auto& measured = automatic_[uniform].measured;
    if (measured && !profiled_) found.kinds[uniform] = profile::table::of(*measured);
  }
  if (found.kinds[false] || found.kinds[true]) return found;
  return std::nullopt;
}

}  // namespace shoal
