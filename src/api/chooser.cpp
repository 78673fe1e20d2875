#include "api/chooser.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <utility>

#include "api/communicator.hpp"
#include "api/errors.hpp"
#include "api/job.hpp"
#include "api/measuring.hpp"
#include "shoal/shoal.h"

namespace shoal {

namespace {

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

}  // namespace

void chooser::follow(const settings& set) {
  if (set.profile) adopt(*set.profile);
  tries_ = set.tries;
}

// Why a profile for as many ranks does not fit, or nothing; the same answer on every rank but for its words.
std::optional<std::string> chooser::unfit(const profile& from) {
  std::optional<std::string> wrong = misfit(from, of_.job());
  for (const auto& kind : from.kinds)
    for (const auto& [spec, seconds] : kind ? kind->rows.front().seconds : std::map<std::string, double>()) {
      const selection named = parse_selection(spec);
      const auto why = named.which->refuses ? named.which->refuses(of_.where(), named.with) : std::nullopt;
      if (why && !wrong) wrong = from.file + ": " + spec + ": " + *why;
    }
  std::int64_t on_some_rank = wrong.has_value();
  constexpr combine rule = combine::maximum;
  of_.agree().reach({&on_some_rank, 1}, {&rule, 1});
  return on_some_rank && !wrong ? from.file + " is not for the machine of another rank" : wrong;
}

// A profile for another number of ranks is worth a word only when that is not the world's: a program has smaller
// communicators too.
void chooser::adopt(const profile& from) {
  int world = 0;
  PMPI_Comm_size(MPI_COMM_WORLD, &world);
  if (from.ranks != of_.ranks() && from.ranks == world) return;
  const auto wrong = from.ranks == of_.ranks() ? unfit(from) : misfit(from, of_.job());
  if (wrong) return warn_once(*wrong, "what is not asked for is measured");
  for (const bool uniform : {false, true})
    if (const auto& kind = from.kinds[uniform]) adopt(uniform, kind->measured("by the profile", of_.ranks()));
  profiled_ = true;
}

// From now on these times decide.
void chooser::adopt(bool uniform, measured_exchanges measured) {
  of_kind& kind = kinds_[uniform];
  kind.calls = unmeasured_calls;
  kind.measured = std::move(measured);
  if (uniform) return;
  const unasked_choice without = shoal::choose_unasked(*kind.measured);
  kind.asks = without.when;
  kind.unasked = made(without.best, {static_cast<double>(kind.measured->points.front().block)});
}

decision chooser::made(const choice& best, const block_mix& blocks) {
  return {&of_.prepare(best.how), best.reason, blocks, best.seconds, best.next_seconds, best.next, {}};
}

const decision* chooser::without_asking(bool uniform, std::int64_t block_bytes) {
  of_kind& kind = kinds_[uniform];
  if (kind.calls < unmeasured_calls) {
    ++kind.calls;
    return unmeasured(uniform);
  }
  measure(uniform);
  if (uniform) return for_sizes(uniform, features::uniform(of_.ranks(), block_bytes));
  if (tries_) return kind.asks == asking::always ? nullptr : try_out(uniform, any_sizes, std::nullopt);
  if (kind.asks == asking::never) return &kind.unasked;
  if (kind.calls_left == 0) return nullptr;
  --kind.calls_left;
  return kind.until;
}

const features& chooser::put_off(const features& mine) {
  std::optional<features>& sum = kinds_[false].put_off;
  if (sum) sum->add(mine);
  else sum = mine;
  return mine;
}

features chooser::with_put_off(features mine) {
  if (const auto earlier = std::exchange(kinds_[false].put_off, std::nullopt)) mine.add(*earlier);
  return mine;
}

const decision* chooser::at_once(bool uniform, std::int64_t block_bytes) {
  of_kind& kind = kinds_[uniform];
  if (!kind.measured) return unmeasured(uniform);
  if (uniform) return best(kind, features::uniform(of_.ranks(), block_bytes), over_messages);
  const prepared* unasked = kind.asks == asking::always ? nullptr : kind.unasked.how;
  const bool shared = unasked && unasked->steps && unasked->steps->plan.shared_memory;
  return unasked && !shared ? &kind.unasked : unmeasured(uniform);
}

const decision* chooser::unmeasured(bool uniform) {
  decision& ready = kinds_[uniform].unmeasured;
  if (!ready.how) {
    const choice likely = shoal::choose_unmeasured(of_.crowded());
    ready = made(likely, {});
  }
  return &ready;
}

void chooser::measure(bool uniform) {
  if (!kinds_[uniform].measured) adopt(uniform, measure_exchanges(of_, uniform));
}

const decision* chooser::for_sizes(bool uniform, const features& sizes) {
  of_kind& kind = kinds_[uniform];
  if (tries_) return try_out(uniform, size_class(sizes), sizes.mix());
  const decision* const chosen = best(kind, sizes, all_ways);
  if (kind.asks != asking::never) kind.calls_left = calls_until_asked(kind, *chosen) - 1;
  kind.until = chosen;
  return chosen;
}

// Where much may be lost, at first in every call, and half as often each time that the same is chosen again.
int chooser::calls_until_asked(of_kind& kind, const decision& chosen) {
  const int most = calls_between(kind.measured->asking, chosen.seconds);
  if (kind.asks == asking::at_times) return most;
  const bool again = kind.until && kind.until->how == chosen.how;
  return kind.interval = again ? std::min(most, 2 * kind.interval) : 1;
}

const decision* chooser::for_repeated(bool uniform, const features& sizes) {
  measure(uniform);
  return best(kinds_[uniform], sizes, all_ways);
}

decision* chooser::best(of_kind& kind, const features& sizes, ways allowed) {
  const std::uint64_t wanted = size_class(sizes) << 1 | (allowed == over_messages);
  if (kind.last && kind.last_class == wanted) return kind.last;
  decision& ready = kind.by_sizes[wanted];
  const block_mix blocks = sizes.mix();
  if (!ready.how)
    ready = made(choose(allowed == all_ways ? *kind.measured : by_messages(*kind.measured), blocks), blocks);
  kind.last_class = wanted;
  return kind.last = &ready;
}

measured_exchanges chooser::by_messages(const measured_exchanges& all) {
  measured_exchanges some = all;
  for (const std::string& spec : all.specs) {
    const prepared& how = of_.prepare(parse_selection(spec));
    if (how.steps && how.steps->plan.shared_memory) some = some.without(spec);
  }
  return some;
}

const decision* chooser::try_out(bool uniform, std::uint64_t sizes, const std::optional<block_mix>& blocks) {
  of_kind& kind = kinds_[uniform];
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
void chooser::settle(tried& one, const block_mix& blocks) {
  const std::string calls = std::to_string(one.ways.size() * trial::rounds);
  measured_exchanges found;
  found.specs.clear();
  for (const decision& way : one.ways) found.specs.push_back(way.how->spec);
  found.source = "tried in " + calls + " of the program's own exchanges";
  found.points = {{0, of_.slowest(one.turns.medians())}, {1, {}}};
  found.points[1].seconds = found.points[0].seconds;
  one.settled = made(choose(found, blocks), blocks);
  char cost[64];
  std::snprintf(cost, sizeof cost, "; trying took %.1f us more in %s calls", one.turns.cost() * 1e6, calls.c_str());
  one.settled.remark = cost;
}

void chooser::report_to(usage_report& report) const {
  for (const bool uniform : {false, true}) {
    const auto add = [&](const decision& d) {
      if (d.how && d.seconds > 0)
        report.add_choice({uniform ? "alltoall" : "alltoallv", of_.ranks(), d.how->spec, d.blocks, d.seconds, d.next,
                           d.next_seconds, d.remark},
                          d.use);
    };
    add(kinds_[uniform].unasked);
    for (const auto& [sizes, chosen] : kinds_[uniform].by_sizes) add(chosen);
    for (const auto& [sizes, one] : kinds_[uniform].on_trial) add(one.settled);
  }
}

std::optional<profile> chooser::learned() const {
  const job_description here = of_.job();
  profile found;
  found.shoal.text = SHOAL_VERSION;
  found.mpi.text = here.mpi;
  found.machine.text = here.machine;
  found.layout.text = to_string(here.layout);
  found.ranks = of_.ranks();
  for (const bool uniform : {false, true}) {
    const auto& measured = kinds_[uniform].measured;
    if (measured && !profiled_) found.kinds[uniform] = profile::table::of(*measured);
  }
  if (found.kinds[false] || found.kinds[true]) return found;
  return std::nullopt;
}

}  // namespace shoal
