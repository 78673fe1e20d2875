#include "calls/process.hpp"

#include <algorithm>

#include "calls/deleted_attributes.hpp"
#include "calls/open_exchange.hpp"
#include "team/boundary.hpp"
#include "team/errors.hpp"
#include "team/nearest_rounding.hpp"
#include "team/of_threads.hpp"
#include "team/own_communicator.hpp"
#include "team/pending_agreement.hpp"
#include "team/progress.hpp"
#include "team/rank_communicator.hpp"
#include "transport/mpi_error.hpp"

namespace shoal {

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
  if (!found && why_of_its_threads(comm)) return nullptr;
  users_communicator* const held = found ? found : attach(comm);
  if (!has_threads()) recent_calls::remember(*held);
  return held;
}

void process::leave_to_duplicate(MPI_Comm comm) {
  constexpr const char* why =
      "MPI_Comm_idup was called on this communicator, and until that ends Open MPI needs the communicator for itself";
  if (comm == MPI_COMM_NULL) return;
  if (group_learner* const groups = group_learner_of(comm)) groups->stop(why);
  for (learner* of : {learner_of(comm), neighbor_learner_of(comm)})
    if (of) of->stop(why);
}

bool process::begins_to_count(MPI_Comm comm, const call_signature& call) {
  if (recent_calls::find(comm) || !begin(comm) || !may_only_count_) return false;
  if (deleted_attributes::are_of(comm) || find(comm) || why_of_its_threads(comm)) return false;
  users_communicator& held = *attach(comm);
  recent_calls::remember(held);
  int ranks = 0;
  require(PMPI_Comm_size(comm, &ranks), "MPI_Comm_size");
  const bool known_sizes = call.form == call_form::equal;
  const std::int64_t load = ranks * (call.in_place ? call.received : call.sent);
  if (held.of_groups || ranks == 1 || !first_calls::contain(1, known_sizes, static_cast<double>(load))) return false;
  recent_calls::begin_repeats(comm, call, first_calls::left_behind(0));
  return recent_calls::pass_again(comm, call);
}

const char* process::why_of_its_threads(MPI_Comm comm) const {
  return open_for_calls_ && !deleted_attributes::are_of(comm) ? why_of_threads(comm) : nullptr;
}

const char* process::why_unknown(MPI_Comm comm) {
  if (deleted_attributes::are_of(comm)) return deleted_attributes::reason;
  const char* const of_threads = get().why_of_its_threads(comm);
  return of_threads ? of_threads : "between two groups";
}

learner* process::found_learner_of(MPI_Comm comm) {
  users_communicator* const held = communicator_of(comm);
  if (!held || held->of_groups) return nullptr;
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
  if (!held->of_neighbors && !held->of_groups && has_neighbors(comm)) {
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

group_learner* process::group_learner_of(MPI_Comm comm) {
  group_learner* const recent = recent_calls::group_learner_of(comm);  // which is told of all calls so far
  users_communicator* const held = recent ? nullptr : communicator_of(comm);
  return held ? held->of_groups.get() : recent;
}

intercommunicator* process::groups_of(MPI_Comm comm, bool is_linked, std::string& wrong) {
  group_learner* const of = group_learner_of(comm);
  return of ? of->enter(is_linked, wrong) : nullptr;
}

// A blocking collective of the MPI's own makes the communicator. So the ranks first agree, and move what they have
// under way while they wait for that.
std::shared_ptr<sparse_ranks> process::sparse_of(MPI_Comm comm, std::string& wrong) {
  users_communicator* const held = communicator_of(comm);
  const char* const of_threads = why_of_its_threads(comm);
  if (of_threads) wrong = std::string("shoal_exchange cannot serve ") + of_threads;
  else if (!held) wrong = "shoal_exchange was called before MPI_Init or after MPI_Finalize";
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

int process::leave_and_report(const std::string& call, MPI_Comm comm, const std::string& reason, native_call native) {
  if (!begin(MPI_COMM_WORLD)) return native();
  const double begin = PMPI_Wtime();
  const int code = native();
  const double took = PMPI_Wtime() - begin;
  if (code == MPI_SUCCESS) reporter_.heed(comm);
  reporter_.add_left(call, reason, took);
  return code;
}

void process::count_verified(team& on, usage& kept, std::int64_t bytes) {
  if (!on.own().is_orphaned()) return kept.add(bytes, 0);
  usage late;
  late.add(bytes, 0);
  reporter_.add_late_verified(late);
}

std::string process::explain(MPI_Comm comm) {
  if (!open_for_calls_) return "the MPI library's own collective: outside MPI_Init and MPI_Finalize";
  const users_communicator* held = find(comm);
  if (const char* const why = why_of_its_threads(comm)) return std::string("the MPI library's own collective: ") + why;
  if (!held) return "nothing was exchanged on this communicator yet";
  if (held->of_groups) return held->of_groups->explain();
  const learner& among_all = *learner_of(comm);  // which tells the learner of all calls so far
  if (!held->of_neighbors) return among_all.explain();
  const learner& along_edges = *neighbor_learner_of(comm);
  if (!along_edges.was_used()) return among_all.explain();
  if (!among_all.was_used()) return along_edges.explain();
  return "all-to-alls: " + among_all.explain() + "; among neighbours: " + along_edges.explain();
}

users_communicator* process::attach(MPI_Comm comm) {
  std::list<users_communicator> made(1);
  users_communicator& held = made.front();
  held.comm = comm;
  if (between_groups(comm)) held.of_groups = std::make_unique<group_learner>(*this, comm);
  held.place = made.begin();
  reporter_.heed(comm);
  const std::scoped_lock guard(lock_);
  require(PMPI_Comm_set_attr(comm, state_key_, &held), "MPI_Comm_set_attr");
  communicators_.splice(communicators_.end(), made);
  held.next = std::exchange(of_places_[recent_calls::place_of(comm)], &held);
  return &held;
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
    held->each_learner([&](learner& of) { all_ended &= of.let_go(); });
  return all_ended;
}

// Reports what was done on a communicator, if somebody wants to know, and keeps what was learnt.
void process::report_on(const users_communicator& held) {
  if (set().report == reporting::none && set().wisdom.empty()) return;
  held.each_learner([](const learner& of) { of.keep_lessons(); });
  reporter_.add(held);
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
  constexpr double patience = 0.1;
  pending_agreement::wait_for_left(patience);
  served().clear();
  knowing().clear();
  if (!set().record.empty()) traffic_.write(set().record);
  int world_rank = -1;
  PMPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  if (world_rank == 0) keep_wisdom();
  reporter_.tell(world_rank);
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
