#include "calls/process.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "calls/deleted_attributes.hpp"
#include "calls/open_exchange.hpp"
#include "calls/reporter.hpp"
#include "learn/voting.hpp"
#include "team/boundary.hpp"
#include "team/errors.hpp"
#include "team/nearest_rounding.hpp"
#include "team/own_communicator.hpp"
#include "team/pending_agreement.hpp"
#include "team/progress.hpp"
#include "team/rank_communicator.hpp"
#include "transport/mpi_error.hpp"

namespace shoal {

namespace {

int ranks_of_both(MPI_Comm groups) {
  int own = 0, others = 0;
  require(PMPI_Comm_size(groups, &own), "MPI_Comm_size");
  require(PMPI_Comm_remote_size(groups, &others), "MPI_Comm_remote_size");
  return own + others;
}

// The largest numbers of all ranks of both groups, or none, on every rank, if some rank heard nothing for long. A
// reduction over an inter-communicator gives each group what the other group has. So the second reduction brings back
// what the own group has, and the third tells whether a rank of the own group heard nothing in the first. Every rank
// begins all three, whatever it heard, because ranks that come late wait for them.
std::vector<std::int64_t> largest_of_both_groups(MPI_Comm comm, const std::vector<std::int64_t>& mine, waiting& wait) {
  pending_agreement other(comm, mine);
  const bool is_heard = other.wait_for(voting::patience, wait);
  std::vector<std::int64_t> all = mine;
  if (is_heard) all.assign(other.largest().begin(), other.largest().end());
  all.push_back(!is_heard);
  pending_agreement own(comm, all);
  if (is_heard) {
    const auto mine = own.wait(wait);
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = std::max(mine[i], all[i]);
  }
  pending_agreement unheard(comm, {all.back()});
  if (is_heard) {
    const bool by_none = all.back() == 0 && unheard.wait(wait)[0] == 0;
    return by_none ? all : std::vector<std::int64_t>();
  }
  for (pending_agreement* one : {&other, &own, &unheard}) one->abandon();
  return {};
}

void report_lessons(const learner& of, usage_report& report) {
  report.begin_communicator();
  for (const lesson& one : of.lessons()) {
    const std::string name = name_of(to_string(of.what()), one.form);
    if (of.is_left_to_mpi()) report.add_left(name, of.why(), one.natives.calls, one.natives.seconds);
    else report.add(name, of.ranks(), "native", one.natives);
    if (!one.tried.empty()) report.add_finding(name, of.ranks(), one.block_bytes, one.tried);
  }
}

void report_prepared(const std::map<std::string, prepared>& all, collective what, int ranks, usage_report& report) {
  for (const auto& [spec, ready] : all)
    for (const call_form form : call_forms) report.add(settings::name_of(what, form), ranks, spec, ready.uses[form]);
}

void report_neighbors(const neighborhood& of, int ranks, usage_report& report) {
  report_prepared(of.algorithms().all(), collective::neighbor_alltoall, ranks, report);
}

void report_exchanges(const learner& of, usage_report& report) {
  if (!of.state()) return;
  const communicator& state = *of.state();
  report_prepared(state.algorithms().all(), collective::alltoall, of.ranks(), report);
  for (const call_form form : call_forms)
    if (const auto& among = of.neighbors(form)) report_neighbors(*among, of.ranks(), report);
  report.add_verified(state.verified, state.verified_by_sums);
}

void report_gathers(const intercommunicator& of, usage_report& report) {
  for (const auto& [spec, plan] : of.all_plans())
    for (const call_form form : settings::forms_of(collective::allgather))
      report.add(name_of("allgather", form), of.ranks(), spec, plan.uses[form]);
  report.add_verified(of.verified, of.verified_by_sums);
}

void report_groups(const users_groups& groups, usage_report& report) {
  if (groups.state) report_gathers(*groups.state, report);
  for (const bool uniform : {false, true})
    report.add(uniform ? "allgather" : "allgatherv", groups.ranks, "native", groups.cold[uniform]);
}

// As in report.json and report.rank1.json.
std::string report_file_of(int rank, const std::string& first) {
  std::filesystem::path path = first;
  if (rank != 0) path.replace_extension(".rank" + std::to_string(rank) + ".json");
  return path;
}

std::string explained(const users_groups& groups) {
  const auto* const last = groups.state ? groups.state->last : nullptr;
  return last ? last->algorithm->spec + ": " + last->reason : "the MPI library's own collective: " + groups.why;
}

}  // namespace

process& process::get() {
  static process* one = new process;  // never destroyed: MPI may outlive static objects
  return *one;
}

// A program may use sessions first and MPI_Init later, or never.
bool process::begin(MPI_Comm comm) {
  if (open_for_calls_.load(std::memory_order_acquire)) return true;
  const std::scoped_lock guard(lock_);
  const nearest_rounding as_on_others;
  int world = 0;
  PMPI_Initialized(&world);
  if (!world || finished_ || open_for_calls_ || deleted_attributes::are_of(MPI_COMM_SELF)) return open_for_calls_;
  begin_job(comm);
  PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_free, &state_key_, this);
  // Attributes of MPI_COMM_SELF are deleted first in MPI_Finalize, on every MPI.
  PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_finalize, &finalize_key_, this);
  PMPI_Comm_set_attr(MPI_COMM_SELF, finalize_key_, this);
  may_only_count_ = !is_watched() && !asks_for_anything() && !knows_before() && !has_threads();
  open_for_calls_.store(true, std::memory_order_release);
  return true;
}

// Most calls are on one of the last communicators.
users_communicator* process::communicator_of(MPI_Comm comm) {
  if (users_communicator* const held = recent_calls::find(comm)) return held;
  if (deleted_attributes::are_of(comm) || !begin(comm)) return nullptr;
  users_communicator* const found = find(comm);
  users_communicator* const held = found ? found : attach(comm);
  if (!has_threads()) recent_calls::remember(*held);
  return held;
}

void process::leave_to_duplicate(MPI_Comm comm) {
  constexpr const char* why =
      "MPI_Comm_idup was called on this communicator, and until that ends Open MPI needs the communicator for itself";
  if (comm == MPI_COMM_NULL) return;
  if (users_groups* const groups = groups_on(comm); groups && groups->is_undecided) {
    groups->is_undecided = false;
    groups->why = why;
  }
  for (learner* of : {learner_of(comm), neighbor_learner_of(comm)})
    if (of) of->stop(why);
}

bool process::begins_to_count(MPI_Comm comm, const call_signature& call) {
  if (recent_calls::find(comm) || !begin(comm) || !may_only_count_) return false;
  if (deleted_attributes::are_of(comm) || find(comm)) return false;
  users_communicator& held = *attach(comm);
  recent_calls::remember(held);
  int ranks = 0;
  require(PMPI_Comm_size(comm, &ranks), "MPI_Comm_size");
  const bool known_sizes = call.form == call_form::equal;
  const std::int64_t load = ranks * (call.in_place ? call.received : call.sent);
  if (held.groups || ranks == 1 || !first_calls::contain(1, known_sizes, static_cast<double>(load))) return false;
  recent_calls::begin_repeats(comm, call, first_calls::left_behind(0));
  return recent_calls::pass_again(comm, call);
}

const char* process::why_unknown(MPI_Comm comm) {
  return deleted_attributes::are_of(comm) ? deleted_attributes::reason : "between two groups";
}

learner* process::found_learner_of(MPI_Comm comm) {
  users_communicator* const held = communicator_of(comm);
  if (!held || held->groups) return nullptr;
  if (!held->of_ranks) {
    auto made = std::make_unique<learner>(*this, comm, collective::alltoall);
    made->have_passed(std::exchange(held->counted, 0));
    const std::scoped_lock guard(lock_);  // other threads look through all communicators
    held->of_ranks = std::move(made);
    if (recent_calls::find(comm)) recent_calls::remember(*held);
  }
  return held->of_ranks.get();
}

learner* process::neighbor_learner_of(MPI_Comm comm) {
  learner* const recent = recent_calls::neighbor_learner_of(comm);
  return recent ? recent : neighbor_learner_made_for(comm);
}

learner* process::neighbor_learner_made_for(MPI_Comm comm) {
  users_communicator* const held = communicator_of(comm);
  if (!held) return nullptr;
  if (!held->of_neighbors && !held->groups && has_neighbors(comm)) {
    auto made = std::make_unique<learner>(*this, comm, collective::neighbor_alltoall);
    const std::scoped_lock guard(lock_);  // other threads look through all communicators
    held->of_neighbors = std::move(made);
  }
  if (recent_calls::find(comm)) recent_calls::remember(*held);
  return held->of_neighbors.get();
}

communicator* process::state_of(MPI_Comm comm, bool is_linked, std::string& wrong) {
  learner* const of = learner_of(comm);
  if (!of) return nullptr;
  communicator* const state = of->enter(is_linked);
  if (!state && of->is_wrong()) wrong = of->why();
  return state;
}

communicator* process::present_state_of(MPI_Comm comm) const {
  const users_communicator* held = open_for_calls_ ? find(comm) : nullptr;
  return held && held->of_ranks ? held->of_ranks->state() : nullptr;
}

users_communicator* process::find(MPI_Comm comm) const {
  users_communicator* held = nullptr;
  int found = 0;
  if (deleted_attributes::are_of(comm)) return nullptr;
  require(PMPI_Comm_get_attr(comm, state_key_, &held, &found), "MPI_Comm_get_attr");
  return found ? held : nullptr;
}

users_groups* process::groups_on(MPI_Comm comm) {
  users_communicator* const held = communicator_of(comm);
  return held ? held->groups.get() : nullptr;
}

intercommunicator* process::groups_of(MPI_Comm comm, bool is_linked, std::string& wrong) {
  users_groups* const groups = groups_on(comm);
  if (!groups) return nullptr;
  if (groups->is_undecided && !is_linked && !is_of_one_world(comm)) {
    groups->is_undecided = false;
    warn_once(comm, groups->why = voting::started_apart);
  }
  if (groups->is_undecided) serve_groups(comm, *groups);
  if (groups->is_wrong) wrong = groups->why;
  return groups->state.get();
}

std::shared_ptr<neighborhood> process::neighbors_of(MPI_Comm comm, call_form form, bool is_linked, std::string& wrong) {
  communicator* const state = state_of(comm, is_linked, wrong);
  if (!state) return nullptr;
  auto& neighbors = communicator_of(comm)->neighbors[form];
  const std::scoped_lock alone(state->all().lock());
  try {
    if (!neighbors) neighbors = std::make_shared<neighborhood>(*state, comm, form, set());
  } catch (const std::invalid_argument& error) {  // the same on every rank
    wrong = error.what();
  }
  return neighbors;
}

std::shared_ptr<neighborhood> process::present_neighbors_of(MPI_Comm comm, call_form form) const {
  const users_communicator* held = open_for_calls_ ? find(comm) : nullptr;
  return held ? held->neighbors[form] : nullptr;
}

// A blocking collective of the MPI's own makes the communicator. So the ranks first agree, and move what they have
// under way while they wait for that.
std::shared_ptr<sparse_ranks> process::sparse_of(MPI_Comm comm, std::string& wrong) {
  users_communicator* const held = communicator_of(comm);
  if (!held) wrong = "shoal_exchange was called before MPI_Init or after MPI_Finalize";
  if (!held || held->sparse) return held ? held->sparse : nullptr;
  waiting wait = moving_meanwhile(set().wait.value_or(wait_mode::yield));
  pending_agreement everyone(comm, {is_full()});
  if (everyone.wait(wait)[0]) wrong = "too many communicators are in use; free some";
  const MPI_Comm own = wrong.empty() ? duplicate(comm) : MPI_COMM_NULL;
  if (own == MPI_COMM_NULL) {
    if (wrong.empty()) wrong = "the MPI library has no communicator left for Shoal";
    return nullptr;
  }
  int ranks = 1;
  require(PMPI_Comm_size(own, &ranks), "MPI_Comm_size");
  held->sparse = std::make_shared<sparse_ranks>(comm, own, set().wait.value_or(standard_wait_mode(facts(), ranks)));
  count_open(1);
  return held->sparse;
}

std::optional<std::weak_ptr<const void>> process::life_of(MPI_Comm comm) {
  users_communicator* const held = communicator_of(comm);
  if (!held) return std::nullopt;
  if (!held->life) held->life = std::make_shared<char>();
  return held->life;
}

bool process::may_serve_groups(MPI_Comm comm) {
  users_groups* const groups = groups_on(comm);
  if (!groups || !groups->is_undecided) return groups;
  if (!groups->worth.is_due()) return false;
  if (!is_of_one_world(comm)) return groups->worth.never_again(), false;
  if (!pays_to_serve(comm, *groups)) return false;
  const double begin = PMPI_Wtime();
  serve_groups(comm, *groups);
  books().spend(PMPI_Wtime() - begin);
  return true;
}

// Nobody asked for this, so if ranks do not hear each other, the user is not told.
bool process::pays_to_serve(MPI_Comm comm, users_groups& groups) {
  const double begin = PMPI_Wtime();
  const auto said = groups.worth.said(groups.cold[false].seconds + groups.cold[true].seconds, books().allowance());
  const auto all = largest_of_groups(comm, {said.begin(), said.end()});
  const double seconds = PMPI_Wtime() - begin;
  groups.worth.took(seconds);
  books().spend(std::min(seconds, group_investment::longest_look));
  if (all.empty()) {
    groups.worth.was_unheard();
    groups.why = "ranks of the other group did not answer within 10 s, or lack Shoal";
  }
  return !all.empty() && groups.worth.pays(all);
}

// None, on every rank, if some ranks heard nothing of others.
std::vector<std::int64_t> process::largest_of_groups(MPI_Comm comm, const std::vector<std::int64_t>& mine) const {
  waiting wait = moving_meanwhile(set().wait.value_or(wait_mode::yield));
  return largest_of_both_groups(comm, mine, wait);
}

void process::count_unserved(MPI_Comm comm, bool uniform, std::int64_t sent, std::int64_t known, double seconds) {
  books().called(seconds);
  users_groups* const groups = groups_on(comm);
  if (!groups) return;
  groups->cold[uniform].add(sent, seconds);
  groups->worth.count(known * groups->ranks / 2);
}

int process::leave_and_report(const std::string& call, MPI_Comm comm, const std::string& reason, native_call native) {
  if (!begin(MPI_COMM_WORLD)) return native();
  const double begin = PMPI_Wtime();
  const int code = native();
  const double took = PMPI_Wtime() - begin;
  if (code == MPI_SUCCESS) heed_for_report(comm);
  try {
    const std::scoped_lock guard(lock_);
    report_.add_left(call, reason, 1, took);
  } catch (const std::bad_alloc&) {
    return code;  // the report lacks this call, which is no reason to fail it
  }
  return code;
}

// For an exchange that ended after its communicator was freed: the rest of what was done there is reported already.
void process::report_late(const std::string& call, int ranks, const std::string& spec, const usage& what) {
  const std::scoped_lock guard(lock_);
  report_.add(call, ranks, spec, what);
}

void process::count_verified(team& on, usage& kept, std::int64_t bytes) {
  if (!on.own().is_orphaned()) return kept.add(bytes, 0);
  usage late;
  late.add(bytes, 0);
  const std::scoped_lock guard(lock_);
  report_.add_verified({}, late);
}

std::string process::explain(MPI_Comm comm) {
  if (!open_for_calls_) return "the MPI library's own collective: outside MPI_Init and MPI_Finalize";
  const users_communicator* held = find(comm);
  if (!held) return "nothing was exchanged on this communicator yet";
  if (held->groups) return explained(*held->groups);
  const learner& of = *learner_of(comm);  // learner_of() tells it of all calls so far
  return held->of_neighbors && of.calls() == 0 && !of.state() ? held->of_neighbors->explain() : of.explain();
}

users_communicator* process::attach(MPI_Comm comm) {
  std::list<users_communicator> made(1);
  users_communicator& held = made.front();
  held.comm = comm;
  if (between_groups(comm)) {
    held.groups = std::make_unique<users_groups>();
    held.groups->ranks = ranks_of_both(comm);
  }
  held.place = made.begin();
  heed_for_report(comm);
  const std::scoped_lock guard(lock_);
  require(PMPI_Comm_set_attr(comm, state_key_, &held), "MPI_Comm_set_attr");
  communicators_.splice(communicators_.end(), made);
  held.next = std::exchange(of_places_[recent_calls::place_of(comm)], &held);
  return &held;
}

void process::serve_groups(MPI_Comm comm, users_groups& groups) {
  groups.is_undecided = false;
  const auto hash = static_cast<std::int64_t>(hash_of(set().canonical()) >> 1);
  const std::vector<std::int64_t> all = largest_of_groups(comm, {hash, -hash, !problem().empty(), is_full()});
  if (all.empty()) {
    groups.why =
        "ranks of the other group did not answer within 10 s when ranks compared settings; preload Shoal on all "
        "ranks, and give all ranks the same SHOAL_ variables";
    return warn_once(comm, groups.why);
  }
  groups.why = wrong_settings(all[0] == -all[1], all[2] != 0);
  groups.is_wrong = !groups.why.empty();
  if (!groups.is_wrong && all[3]) groups.why = "too many communicators are in use; free some";
  if (!groups.why.empty()) return;
  const MPI_Comm own = merged(comm);
  if (own == MPI_COMM_NULL) return void(groups.why = "the MPI library has no communicator left for Shoal");
  try {
    groups.state = std::make_shared<intercommunicator>(*this, comm, own, set());
    count_open(1);
  } catch (const std::invalid_argument& error) {
    groups.why = error.what();
    groups.is_wrong = true;
  }
}

// Does not ask the MPI, because what the program has given may be no communicator.
users_communicator* process::held_by(MPI_Comm comm) {
  const std::scoped_lock guard(lock_);
  users_communicator* held = of_places_[recent_calls::place_of(comm)];
  while (held && held->comm != comm) held = held->next;
  return held;
}

bool process::leave(const MPI_Comm* comm) {
  if (!comm) {
    for (const users_communicator& held : communicators_) recent_calls::forget(held.comm);
    return true;
  }
  recent_calls::forget(*comm);
  bool all_ended = true;
  if (const users_communicator* const held = held_by(*comm))
    held->each_learner([&](learner& of) { all_ended &= of.leave(); });
  return all_ended;
}

// Reports what was done on a communicator, if somebody wants to know, and keeps what was learnt.
void process::report_on(const users_communicator& held) {
  if (set().report == reporting::none && set().wisdom.empty()) return;
  held.each_learner([this](const learner& of) {
    report_lessons(of, report_);
    of.keep_lessons();
    report_exchanges(of, report_);
  });
  for (const call_form form : call_forms)
    if (const auto& among = held.neighbors[form]) report_neighbors(*among, held.of_ranks->ranks(), report_);
  if (held.sparse) report_.add("exchange", held.sparse->ranks(), "digits", held.sparse->used());
  if (held.groups) report_groups(*held.groups, report_);
}

// `is_freed`: the program frees the communicator; if false, the program ends.
void process::release(users_communicator& held, bool is_freed) {
  std::list<users_communicator> released;  // destroyed after the lock is let go
  const std::scoped_lock guard(lock_);
  released.splice(released.end(), communicators_, held.place);
  users_communicator** at = &of_places_[recent_calls::place_of(held.comm)];
  while (*at != &held) at = &(*at)->next;
  *at = held.next;
  recent_calls::forget(held.comm);
  count_open(-held.open_communicators());
  if (is_freed) held.leave_communicators();
  try {
    report_on(held);
  } catch (const std::bad_alloc&) {  // the communicator goes all the same: an MPI may ask twice if this fails
  }
}

void process::finish() {
  const nearest_rounding as_on_others;
  open_for_calls_ = false;
  finished_ = true;
  leave_open_exchanges();
  free_rank_communicator();
  while (!communicators_.empty()) release(communicators_.front(), false);
  served().clear();
  knowing().clear();
  if (!set().record.empty()) traffic_.write(set().record);
  int world_rank = -1;
  PMPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  if (world_rank == 0) keep_wisdom();
  if ((world_rank == 0 || is_reporter_) && !report_.empty()) tell(world_rank);
}

void process::report_nothing() {
  if (!has_reported_) tell(0);
}

// This rank has made a call on `comm`. Whatever goes wrong here must not change what the call returns.
void process::heed_for_report(MPI_Comm comm) noexcept {
  if (set().report == reporting::none || is_reporter_) return;
  try {
    is_reporter_ = tells_instead_of_rank_0(comm);
  } catch (...) {
    return;
  }
}

void process::tell(int rank) {
  if (set().report == reporting::none) return;
  has_reported_ = true;
  if (set().report_file.empty()) return report_.print(std::cerr, rank, books());
  const std::string path = report_file_of(rank, set().report_file);
  std::ofstream file(path);
  file.imbue(std::locale::classic());
  report_.write_json(file, rank, books());
  if (!file.flush()) say_once("SHOAL_REPORT=" + path + " cannot be written", "no report is written");
}

int process::on_free(MPI_Comm, int, void* held, void* self) {
  return returning_codes(MPI_COMM_SELF, [&] {
    process& job = *static_cast<process*>(self);
    if (!job.finished_) job.release(*static_cast<users_communicator*>(held), true);  // else finish() has done so
    return MPI_SUCCESS;
  });
}

int process::on_finalize(MPI_Comm, int, void*, void* self) {
  return returning_codes(MPI_COMM_SELF, [&] {
    static_cast<process*>(self)->finish();
    return MPI_SUCCESS;
  });
}

}  // namespace shoal
