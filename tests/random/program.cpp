#include "program.hpp"

#include <mpi.h>

#include <algorithm>
#include <cstdlib>
#include <random>

namespace random_programs {

namespace {

bool is_in(const std::vector<int>& ranks, int rank) {
  return std::find(ranks.begin(), ranks.end(), rank) != ranks.end();
}

std::string text_of(const std::vector<int>& ranks) {
  std::string all;
  for (const int rank : ranks) all += (all.empty() ? "" : " ") + std::to_string(rank);
  return all;
}

std::string text_of_topology(const team& where) {
  std::string all = where.grid.empty() ? "" : " in a grid of";
  for (const dimension& along : where.grid)
    all += " " + std::to_string(along.ranks) + (along.is_ring ? " in a ring" : "");
  if (!where.graph.empty()) all += " with edges";
  for (const auto& [from, to] : where.graph) all += " " + std::to_string(from) + "-" + std::to_string(to);
  return all;
}

bool is_ours(const std::string& spec) {
  return !spec.empty() && spec != "native" && spec != "auto" && spec != "nonsense";
}

// If memory is limited, nonblocking all-to-alls are the MPI's own, and others may be.
bool is_memory_limited() { return std::getenv("SHOAL_MAX_TEMP") != nullptr; }

class maker {
 public:
  maker(std::uint64_t seed, int ranks, names used) : random_(seed), used_(used) {
    made_.seed = seed;
    made_.ranks = ranks;
  }

  program make() {
    make_team();
    for (int left = 20 + below(40); left > 0; --left) add_step();
    return std::move(made_);
  }

 private:
  struct live_team {
    int number;
    std::string asked;  // which algorithm the communicator was asked to use
  };
  struct prepared {
    int exchange;
    bool is_usable;
  };

  int below(int bound) { return static_cast<int>(random_() % static_cast<unsigned>(bound)); }
  bool once_in(int times) { return below(times) == 0; }
  template <typename List>
  auto& one_of(List& list) {
    return list[below(static_cast<int>(list.size()))];
  }
  step& add(step::deed what) {
    step& one = made_.steps.emplace_back();
    one.what = what;
    return one;
  }

  void add_step();
  void make_team();
  void free_team();
  void ask();
  void add_topology(team& to);
  void add_exchange(step::deed form);
  void choose_call(exchange_plan& plan, step::deed form);
  void add_mistake(exchange_plan& plan);
  void start();
  void release(std::size_t which);
  void add_message();
  // Open MPI's MPI_Ialltoallv mixes up blocks in place.
  bool may_be_right_in_place(step::deed form, bool uniform) const {
    return used_ == names::of_shoal || uniform || form == step::deed::exchange;
  }
  std::string spec_for(const team& where, bool uniform);

  program made_;
  std::mt19937_64 random_;
  names used_;
  std::vector<live_team> live_;
  std::vector<prepared> prepared_;
};

void maker::add_step() {
  using deed = step::deed;
  const bool shoal = used_ == names::of_shoal;
  const int kind = below(20);
  if (live_.empty() || (kind == 0 && live_.size() < 5)) return make_team();
  if (kind == 1 && once_in(3)) return free_team();
  if (kind <= 5) return add_message();
  if (kind <= 9) return add_exchange(deed::begin);
  if (kind == 10 && shoal) return ask();
  if (kind == 11 || kind == 12) return add_exchange(deed::prepare);
  if (kind <= 16 && !prepared_.empty())
    return once_in(8) ? release(below(static_cast<int>(prepared_.size()))) : start();
  add_exchange(deed::exchange);
}

void maker::make_team() {
  std::vector<int> ranks(made_.ranks);
  for (int i = 0; i < made_.ranks; ++i) ranks[i] = i;
  std::shuffle(ranks.begin(), ranks.end(), random_);
  if (!once_in(3)) ranks.resize(std::max(1, made_.ranks - below(made_.ranks)));
  team one;
  if (ranks.size() > 1 && once_in(3)) {
    const auto middle = ranks.begin() + 1 + below(static_cast<int>(ranks.size()) - 1);
    one.second.assign(middle, ranks.end());
    ranks.erase(middle, ranks.end());
  }
  one.first = std::move(ranks);
  if (!one.between_groups() && once_in(2)) add_topology(one);
  const int number = static_cast<int>(made_.teams.size());
  made_.teams.push_back(std::move(one));
  live_.push_back({number, {}});
  add(step::deed::make_team).team = number;
}

void maker::add_topology(team& to) {
  const int ranks = static_cast<int>(to.first.size());
  if (once_in(2)) {
    int rows = 1 + below(ranks);
    while (ranks % rows != 0) --rows;
    to.grid = {{rows, once_in(2)}, {ranks / rows, once_in(2)}};
    return;
  }
  for (int edges = 1 + below(3 * ranks); edges > 0; --edges) to.graph.emplace_back(one_of(to.first), one_of(to.first));
}

// What is under way on the communicator goes on, and what Shoal prepared there may still be started. MPIs differ about
// what they prepared themselves, so that is released first.
void maker::free_team() {
  const int which = below(static_cast<int>(live_.size())), number = live_[which].number;
  for (std::size_t i = prepared_.size(); i-- > 0;) {
    const exchange_plan& plan = made_.exchanges[prepared_[i].exchange];
    if (plan.team == number && !plan.is_shoals) release(i);
  }
  add(step::deed::free_team).team = number;
  live_.erase(live_.begin() + which);
}

std::string maker::spec_for(const team& where, bool uniform) {
  static const std::vector<std::string> within = {
      "spread_out", "linear",       "scattered:block_count=1",   "pairwise", "tuna:radix=2", "tuna:radix=3,inflight=1",
      "two_phase",  "hierarchical", "hierarchical:local=shared", "shared",   "native",       "auto"};
  static const std::vector<std::string> between = {"full",           "full:paced=yes", "circulant",  "ring",
                                                   "root_gathering", "union_ring",     "ring_paper", "native"};
  if (where.between_groups()) return one_of(between);
  return uniform && once_in(6) ? "bruck:radix=2" : one_of(within);
}

void maker::ask() {
  live_team& where = one_of(live_);
  step& one = add(step::deed::ask);
  one.team = where.number;
  one.spec = once_in(8) ? "nonsense" : spec_for(made_.teams[where.number], false);
  one.differs = made_.teams[where.number].first.size() > 1 && once_in(8);
  if (!one.differs && one.spec != "nonsense") where.asked = one.spec;
}

// Shoal's own functions exchange among neighbours only in blocking calls. MPI's names have no shoal_exchange().
void maker::choose_call(exchange_plan& plan, step::deed form) {
  const team& where = made_.teams[plan.team];
  const bool shoal = used_ == names::of_shoal, is_within = !where.between_groups();
  plan.is_blocking = form == step::deed::exchange;
  plan.uniform = once_in(2);
  plan.typed = !plan.uniform && once_in(2);
  plan.among_neighbors = (plan.is_blocking || !shoal) && where.has_neighbors() && !once_in(3);
  if (plan.among_neighbors) return;
  plan.to_some = shoal && form != step::deed::prepare && is_within && once_in(6);
  const bool may_gather = form != (shoal ? step::deed::begin : step::deed::prepare) && !plan.to_some;
  plan.gathers = may_gather && (is_within ? once_in(15) : !once_in(5));
  plan.typed = plan.typed && !plan.gathers && !plan.to_some;
  const bool is_plain = is_within && !plan.gathers && !plan.to_some;
  plan.in_place = is_plain && may_be_right_in_place(form, plan.uniform) && once_in(5);
  plan.wide = shoal && plan.is_blocking && !plan.to_some && once_in(6);
}

void maker::add_exchange(step::deed form) {
  const live_team& on = one_of(live_);
  const team& where = made_.teams[on.number];
  exchange_plan plan;
  plan.id = mixed(made_.seed, made_.steps.size());
  plan.team = on.number;
  choose_call(plan, form);
  plan.largest = std::vector{0, 1, 5, 60, 60, 1000, 20000}[below(7)];
  const bool takes_info =
      used_ == names::of_shoal && form != step::deed::begin && !plan.wide && !plan.among_neighbors && !plan.to_some;
  if (takes_info && once_in(2)) plan.spec = once_in(20) ? "nonsense" : spec_for(where, plan.uniform && !plan.gathers);
  const std::string& asked = plan.spec.empty() ? on.asked : plan.spec;
  plan.is_shoals = used_ == names::of_shoal && !plan.among_neighbors && is_ours(asked) &&
                   plan.gathers == where.between_groups() && (plan.gathers || !is_memory_limited());
  if (plan.to_some) plan.is_shoals = true;
  plan.is_refused = plan.spec == "nonsense" && plan.gathers == where.between_groups();
  const bool many = form == step::deed::exchange && plan.largest <= 60 && !plan.is_refused;
  if (many && once_in(used_ == names::of_mpi ? 2 : 6)) plan.times = 5 + below(60);
  if (plan.is_shoals) add_mistake(plan);
  step& one = add(form);
  one.team = plan.team;
  one.exchange = static_cast<int>(made_.exchanges.size());
  if (form == step::deed::prepare) prepared_.push_back({one.exchange, !plan.is_refused});
  made_.exchanges.push_back(std::move(plan));
}

// Only if Shoal serves the exchange, because MPIs promise nothing about what comes after an error.
void maker::add_mistake(exchange_plan& plan) {
  const team& where = made_.teams[plan.team];
#ifdef OPEN_MPI  // which writes beyond the receiver's memory if a message of 4 KiB or more is too long
  if (plan.largest > 60) return;
#endif
  if (plan.gathers || plan.in_place || plan.wide || plan.to_some || !once_in(5)) return;
  const int rank = one_of(where.first), peer = one_of(where.first);
#ifdef OPEN_MPI  // which refuses such a block from a rank to itself at once, so that others wait
  if (plan.uniform || rank == peer) return;
#endif
  const int expected = plan.elements(where, peer, rank);
  if (expected < 2) return;
  plan.times = 1;
  plan.wrong = mistake{rank, peer, once_in(2) ? 1 + below(3) : -1 - below(expected - 1)};
}

void maker::start() {
  const prepared& chosen = one_of(prepared_);
  if (!chosen.is_usable) return;
  step& one = add(step::deed::start);
  one.exchange = chosen.exchange;
  one.team = made_.exchanges[chosen.exchange].team;
}

void maker::release(std::size_t which) {
  step& one = add(step::deed::release);
  one.exchange = prepared_[which].exchange;
  one.team = made_.exchanges[one.exchange].team;
  prepared_.erase(prepared_.begin() + static_cast<std::ptrdiff_t>(which));
}

void maker::add_message() {
  const live_team& on = one_of(live_);
  const team& where = made_.teams[on.number];
  step& one = add(step::deed::message);
  one.team = on.number;
  one.from = one_of(where.first);
  one.to = one_of(where.peers(one.from));
  one.ints = std::vector{0, 1, 100, 3000, 60000}[below(5)];
}

}  // namespace

bool team::has(int rank) const { return is_in(first, rank) || is_in(second, rank); }
const std::vector<int>& team::own(int rank) const { return is_in(first, rank) ? first : second; }
const std::vector<int>& team::peers(int rank) const { return between_groups() && is_in(first, rank) ? second : first; }

std::vector<int> team::sources(int rank) const {
  if (!grid.empty()) return destinations(rank);
  std::vector<int> found;
  for (const auto& [from, to] : graph)
    if (to == rank) found.push_back(from);
  return found;
}

std::vector<int> team::destinations(int rank) const {
  std::vector<int> found;
  for (const auto& [from, to] : graph)
    if (from == rank) found.push_back(to);
  const int place = static_cast<int>(std::find(first.begin(), first.end(), rank) - first.begin());
  int apart = static_cast<int>(first.size());
  for (const dimension& along : grid) {
    apart /= along.ranks;
    const int at = place / apart % along.ranks;
    for (const int next : {at - 1, at + 1}) {
      const bool is_there = along.is_ring || (next >= 0 && next < along.ranks);
      const int there = place + ((next + along.ranks) % along.ranks - at) * apart;
      found.push_back(is_there ? first[there] : MPI_PROC_NULL);
    }
  }
  return found;
}

std::vector<int> exchange_plan::receivers(const random_programs::team& where, int from) const {
  std::vector<int> all(mixed(id, from, 3) % 6);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int>(mixed(id, from, 4, i) % where.first.size());
  return all;
}

std::vector<int> exchange_plan::sizes_to_some(const random_programs::team& where, int from) const {
  std::vector<int> sizes(receivers(where, from).size());
  for (std::size_t i = 0; i < sizes.size(); ++i) sizes[i] = size(mixed(id, from, 5, i));
  return sizes;
}

std::string exchange_plan::call() const {
  if (to_some) return "shoal_exchange";
  const std::string form = uniform ? "" : typed ? "w" : "v";
  return (among_neighbors ? "neighbor_" : "") + std::string(gathers ? "allgather" : "alltoall") + form +
         (wide ? "_c" : "");
}

// In place, the two blocks that two ranks exchange have one size. In a gather, a rank sends the same message to all.
int exchange_plan::elements(const random_programs::team& where, int from, int to) const {
  if (uniform && !gathers) return largest;
  if (uniform) from = where.own(from).front();
  if (in_place && from > to) std::swap(from, to);
  return size(gathers ? mixed(id, from) : mixed(id, from, to));
}

int exchange_plan::size(std::uint64_t number) const {
  return number % 5 == 0 ? 0 : static_cast<int>((number >> 8) % static_cast<unsigned>(largest + 1));
}

program make_program(std::uint64_t seed, int ranks, names used) { return maker(seed, ranks, used).make(); }

std::string program::text(const step& one) const {
  static const char* const deeds[] = {"make team",        "free team",       "ask team",
                                      "exchange on team", "begin on team",   "prepare on team",
                                      "start on team",    "release on team", "message on team"};
  using deed = step::deed;
  std::string line = deeds[static_cast<int>(one.what)] + (" " + std::to_string(one.team));
  if (one.what == deed::make_team)
    line += ": " + text_of(teams[one.team].first) + (teams[one.team].between_groups() ? " | " : "") +
            text_of(teams[one.team].second) + text_of_topology(teams[one.team]);
  if (one.what == deed::ask) line += " for " + one.spec + (one.differs ? ", differing" : "");
  if (one.what == deed::message)
    line +=
        ": " + std::to_string(one.ints) + " ints from " + std::to_string(one.from) + " to " + std::to_string(one.to);
  if (one.what < deed::exchange || one.what == deed::message) return line;
  const exchange_plan& e = exchanges[one.exchange];
  line += ": #" + std::to_string(one.exchange) + " " + e.call() + ", to " + std::to_string(e.largest) + " elements";
  if (e.in_place) line += ", in place";
  if (e.times > 1) line += ", " + std::to_string(e.times) + " times";
  if (!e.spec.empty()) line += ", " + e.spec;
  if (e.wrong)
    line += ", rank " + std::to_string(e.wrong->rank) + " expects " + std::to_string(e.wrong->more) + " more of " +
            std::to_string(e.wrong->peer);
  return line;
}

}  // namespace random_programs
