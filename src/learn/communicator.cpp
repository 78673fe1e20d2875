#include "learn/communicator.hpp"

#include <limits.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <system_error>

#include "team/boundary.hpp"
#include "team/errors.hpp"
#include "team/fault_tolerance.hpp"
#include "team/job_facts.hpp"
#include "team/machine.hpp"
#include "team/own_communicator.hpp"
#include "team/pending_agreement.hpp"
#include "team/progress.hpp"

namespace shoal {

namespace {

// As given, when it is for this many ranks, else as found: a program's smaller communicators have layouts of their own.
layout_tree layout_of(const settings& set, std::vector<layout_tree::shared_ids> found, const switch_network* switches) {
  if (set.layout && set.layout->ranks() == static_cast<int>(found[0].ids.size())) return *set.layout;
  if (set.finds_levels && switches) found.insert(found.begin(), {"group", switches->switch_of_ranks()});
  return layout_tree::found(std::move(found));
}

}  // namespace

communicator::communicator(MPI_Comm users, const settings& set, common_facts found, wait_mode how)
    : users_(users),
      own_(MPI_COMM_NULL),
      found_(std::move(found)),
      over_(users),
      requests_(
          collective::alltoall, set, [this] { return &agree(); },
          [this](const selection& chosen) -> auto& { return prepare(chosen); }) {
  arrange(set, how);
}

communicator::communicator(MPI_Comm own, const settings& set)
    : users_(own),
      own_(own),
      over_(own),
      requests_(
          collective::alltoall, set, [this] { return &agree(); },
          [this](const selection& chosen) -> auto& { return prepare(chosen); }) {
  try {
    waiting wait(set.wait.value_or(wait_mode::yield));
    found_ = agree_on_facts(own, set, wait);
    begin_turns(own, wait);
    arrange(set, set.wait.value_or(polite_mode(find_job_facts(set.nodes_share), ranks())));
  } catch (...) {
    release();
    throw;
  }
}

void communicator::arrange(const settings& set, wait_mode how) {
  at_.ranks = over_.ranks();
  wait_ = waiting(how);
  wait_.move_meanwhile([this] {
    look_for_failures();
    return progress::get().move();
  });
  const auto switches = set.topology ? place_ranks(*set.topology) : nullptr;
  at_ = placed(layout_of(set, found_.shared, switches.get()));
  at_.switches = switches;
  if (set.report == reporting::phases) exchange_.record_phases(&phases_.emplace(at_.nodes.get(), rank()));
  limit_.most = set.max_temp;
  if (set.profile && fits(*set.profile)) profile_ = set.profile;
}

// What this rank waits for may never come. The others know, or hear of it here.
void communicator::look_for_failures() {
  constexpr unsigned often = 256;
  if (lost_ || ++waits_ % often != 0) return;
  const int lasting = lasting_error(is_left() ? own_ : users_);
  if (lasting == MPI_SUCCESS) return;
  lost_ = true;
  over_.give_up(lasting);
  if (is_open()) revoke(own_);
}

// The same answer on every rank but for the words that are said. One for another number of ranks serves as a guess.
bool communicator::fits(const profile& from) {
  profile compared = from;
  compared.ranks = ranks();
  if (from.ranks != ranks()) compared.layout = {};
  std::optional<std::string> wrong = misfit(compared, job());
  for (const auto& kind : from.kinds)
    for (const auto& [spec, seconds] : kind ? kind->rows.front().seconds : std::map<std::string, double>()) {
      const selection named = parse_selection(spec);
      const auto why = named.which->refuses ? named.which->refuses(where(), named.with) : std::nullopt;
      if (why && !wrong) wrong = from.file + ": " + spec + ": " + *why;
    }
  const bool on_some_rank = agree().on_any_rank(wrong.has_value());
  if (on_some_rank) warn_once(wrong.value_or(from.file + " is not for the machine of another rank"), "it is not used");
  return !on_some_rank;
}

// Nothing of Shoal's moves while the MPI makes a communicator, so it begins when all ranks are here.
bool communicator::open() {
  if (is_open()) return true;
  begin_turns(users_, wait_);
  own_ = duplicate(users_);
  if (is_open()) over_.move_to(own_);
  return is_open();
}

MPI_Comm communicator::own() {
  if (!open()) throw std::runtime_error("the MPI library has no communicator left for Shoal");
  return own_;
}

communicator::~communicator() { release(); }

// Behind those of all communicators before: MPIs give the identity of one that is freed to the next, and with it what was
// sent there and never received.
static std::atomic<std::uint64_t> turns_before = 0;

void communicator::begin_turns(MPI_Comm among, waiting& how) {
  pending_agreement latest(among, {static_cast<std::int64_t>(std::max<std::uint64_t>(turns_before, turns_.next()))});
  turns_.begin_at(static_cast<std::uint64_t>(latest.wait(how)[0]));
}

void communicator::leave(MPI_Comm users) {
  if (is_open()) PMPI_Comm_get_errhandler(users, &handler_);
}

int communicator::raise_on_own() noexcept {
  MPI_Errhandler before = MPI_ERRHANDLER_NULL;
  PMPI_Comm_get_errhandler(own_, &before);
  PMPI_Comm_set_errhandler(own_, handler_);
  const int code = raise_current(own_);
  PMPI_Comm_set_errhandler(own_, before);
  PMPI_Errhandler_free(&before);
  return code;
}

void communicator::release() {
  if (is_left()) PMPI_Errhandler_free(&handler_);
  for (std::uint64_t before = turns_before; before < turns_.next();)
    if (turns_before.compare_exchange_weak(before, turns_.next())) break;
  if (own_ != MPI_COMM_SELF && own_ != MPI_COMM_NULL) PMPI_Comm_free(&own_);
}

// The topology with this communicator's ranks on their machines. Throws where it does not have all of them.
std::shared_ptr<const switch_network> communicator::place_ranks(switch_network network) {
  std::array<char, HOST_NAME_MAX + 1> mine{};
  gethostname(mine.data(), mine.size() - 1);
  std::vector<std::string> hosts;
  const std::vector<std::byte> all = gather(std::as_bytes(std::span(mine)));
  for (std::size_t at = 0; at < all.size(); at += mine.size())
    hosts.emplace_back(reinterpret_cast<const char*>(all.data() + at));
  try {
    network.place_ranks(hosts);
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(std::string("SHOAL_TOPOLOGY: ") + error.what());
  }
  return std::make_shared<const switch_network>(std::move(network));
}

job_description communicator::job() const { return {mpi_version(), machine_name(found_.cores), *at_.nodes}; }

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
  run(*prepare(parse_selection(agrees_inside() ? "shared" : "tuna:radix=2")).steps, what);
  return all;
}

std::vector<std::int64_t> communicator::largest(std::span<const std::int64_t> mine) {
  const std::vector<std::byte> all = gather(std::as_bytes(mine));
  std::vector<std::int64_t> most(mine.begin(), mine.end()), theirs(mine.size());
  for (std::size_t at = 0; at < all.size(); at += mine.size_bytes()) {
    std::memcpy(theirs.data(), all.data() + at, mine.size_bytes());
    for (std::size_t i = 0; i < most.size(); ++i) most[i] = std::max(most[i], theirs[i]);
  }
  return most;
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

void communicator::share(node_exchange::mapped given) {
  tried_to_share_ = true;
  given.memory.close();
  inside_nodes_ = std::make_unique<node_exchange>(pool_, over_, wait_, *at_.nodes, std::move(given));
  inside_nodes_->record_phases(phases());
}

const decision* communicator::settled(call_form form, int size) const {
  const auto it = settled_[form].find(size);
  return it == settled_[form].end() ? nullptr : it->second;
}

// Tried once for a communicator.
node_exchange* communicator::inside_nodes() {
  if (tried_to_share_) return inside_nodes_.get();
  tried_to_share_ = true;
  own();
  inside_nodes_ = share_inside_nodes(over_);
  if (inside_nodes_) inside_nodes_->record_phases(phases());
  return inside_nodes_.get();
}

std::unique_ptr<node_exchange> communicator::share_inside_nodes(transport& over, node_exchange::room size) {
  if (at_.nodes->largest_node() == 1) return nullptr;
  try {
    return std::make_unique<node_exchange>(pool_, over, wait_, *at_.nodes, size);
  } catch (const std::system_error& error) {  // the same on every rank
    warn_once("no memory can be shared inside a node: " + error.code().message(), "blocks travel as messages");
    return nullptr;
  }
}

std::vector<double> communicator::slowest(const std::vector<double>& mine) {
  const std::vector<combine> how(mine.size(), combine::maximum);
  std::vector<std::int64_t> nanoseconds;
  for (double seconds : mine) nanoseconds.push_back(std::llround(seconds * 1e9));
  agree().reach(nanoseconds, how);
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
  node_exchange* const inside = how.plan.shared_memory ? inside_nodes() : nullptr;
  if (!inside) own();
  const tag_turns::turn turn = next_turn();
  if (inside) {
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

}  // namespace shoal
