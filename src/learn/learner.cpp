#include "learn/learner.hpp"

#include <algorithm>
#include <span>
#include <stdexcept>
#include <utility>

#include "team/errors.hpp"
#include "team/fault_tolerance.hpp"
#include "team/mpi_neighbors.hpp"
#include "team/progress.hpp"
#include "transport/mpi_error.hpp"

namespace shoal {

namespace {

int ranks_of(MPI_Comm comm) {
  int ranks = 0;
  require(PMPI_Comm_size(comm, &ranks), "MPI_Comm_size");
  return ranks;
}

int destinations_of(MPI_Comm comm) { return static_cast<int>(neighbors_of(comm).destinations.size()); }

}  // namespace

learner::learner(job_state& job, MPI_Comm comm, collective what)
    : job_(job),
      comm_(comm),
      what_(what),
      ranks_(ranks_of(comm)),
      blocks_(what == collective::alltoall ? ranks_ : destinations_of(comm)),
      is_watched_(job.set().report != reporting::none || !job.set().record.empty()),
      is_idle_(ranks_ == 1 && !is_watched_ && !job.asks_for_anything()),
      offered_(what == collective::alltoall ? node_exchange::room::of_direct : node_exchange::room::of_schedules) {
  require(PMPI_Comm_rank(comm, &rank_), "MPI_Comm_rank");
  const wait_mode mode = job.set().wait.value_or(polite_mode(job.facts(), ranks_));
  wait_ = moving_meanwhile(mode, job.ranks_of_a_core(ranks_));
}

// ---- a call ----------------------------------------------------------------------------------------------------

learner::serving learner::begin(const call_size& call, bool is_linked) {
  exchange_field* const passed = is_watched_ ? passing(call.form, call.bytes) : nullptr;
  if (passed) return {passed, contest::native, call, true, true, false};
  ++calls_;
  linked_ = is_linked;
  if (!std::exchange(has_begun_, true) && (is_linked || job_.knows_before())) begin_agreed(call);
  if (stage_ == stage::voting || said_) look();
  if (is_young(call)) return {.size = call, .is_timed = is_watched_, .is_placed = false};
  exchange_field& f = field_of(call);
  const int candidate = f.of.next();
  const bool passes = stage_ != stage::voting && f.of.passes();
  return {&f, candidate, call, is_watched_ || !passes, passes};
}

// Every rank takes this way in the same calls, also where somebody wants to know of them. The less of Shoal's memory it looks
// at the better: where ranks share a core each of them finds it cold. What ranks say ends in a call that has to be seen.
exchange_field* learner::passing(call_form form, std::int64_t bytes) {
  exchange_field* const f = stage_ == stage::voting || said_ ? nullptr : fields_.known(form, bytes);
  if (!f || f->of.best() != contest::native || (was_entered_ && is_asked(form, MPI_INFO_NULL)) || !f->of.passes())
    return nullptr;
  ++calls_;
  if (state_ && (was_entered_ || last_served_.candidate != contest::native)) state_->last = nullptr;
  last_served_.in = f;
  last_served_.candidate = contest::native;
  return f;
}

void learner::have_passed(int calls) {
  calls_ += calls;
  if (last_served_.in) last_served_.in->of.pass(calls);
  else young_.add_again(calls);
}

bool learner::is_young(const call_size& call) const {
  return stage_ == stage::cold &&
         first_calls::contain(calls_, fields_.are_known_sizes(call.form), fields_.load_of(call));
}

void learner::end(const serving& of, double seconds) {
  last_served_ = of;
  if (!of.in) return end_first(of.size, seconds);
  if (of.candidate == contest::native && state_) state_->last = nullptr;
  if (!of.is_timed) return;
  if (of.passes) return of.in->note(of.candidate, seconds);
  job_.books().called(seconds);
  exchange_field& f = *of.in;
  f.add(of.candidate, seconds);
  if (f.of.calls() == 1 && stage_ == stage::served)
    open_if_known(f);  // not before: the MPI might have refused that call
  if (f.of.is_due()) review(f);
}

// Nobody needs to know what it took, unless somebody asks.
void learner::end_first(const call_size& call, double seconds) {
  young_.add(call.form, fields_.load_of(call), seconds);
  if (is_watched_) job_.books().called(seconds);
  else may_pass_ = first_calls::left_behind(calls_);
}

void learner::give_way(const serving& of) {
  last_served_ = of;
  of.in->of.gave_way(of.passes);
  review(*of.in);
}

void learner::take_back(const serving& of) {
  --calls_;
  if (of.passes) of.in->of.take_back();
  if (of.is_placed) fields_.take_back(of.size.form);
  if (of.in && of.in->of.calls() == 0) fields_.forget(*of.in);  // others may never make one like it
}

void learner::take_back_passed() {
  --calls_;
  if (last_served_.in) last_served_.in->of.take_back();
  else young_.add_again(-1);
}

exchange_field& learner::field_of(const call_size& call) {
  bool is_new = false;
  exchange_field& f = fields_.of_next(call, is_new);
  f.is_loose = !call.meets_all;
  f.copied = call.copied;
  if (!is_new) return f;
  f.shape = fields_.shape_of(call.form, f.load, nodes());
  if (fields_.size() == 1) f.young = calls_ - 1;
  if (stage_ != stage::served) f.of.wait_first(first_agreement(f));
  if (stage_ == stage::served && knows_) open_if_known(f);
  return f;
}

// ---- what the ranks agree on -----------------------------------------------------------------------------------

// As far as is known now: after how many calls.
int learner::first_agreement(const exchange_field& f) const {
  const std::int64_t others = calls_ - std::max<std::int64_t>(1, f.of.calls());
  const int fruitless = stage_ == stage::cold ? job_.served().fruitless(comm_) : 0;
  return calls_before_agreement(fields_.are_known_sizes(f.shape.form), f.load, ranks_, others, fruitless);
}

// Of a field, or of the calls to come.
rank_terms learner::terms(exchange_field* f) {
  rank_terms mine = job_.terms(ranks_);
  mine.memory_error = offered_.error();
  mine.is_unreadable = offered_.is_unreadable();
  mine.set_load(load_);
  fields_.write_pattern(mine.no_pattern);
  if (f) add_terms(*f, mine);
  mine.times = agreements_.times();
  mine.calls = static_cast<std::uint64_t>(calls_);
  return mine;
}

// What may be spent depends on how long the calls took, those included that passed.
void learner::add_terms(exchange_field& f, rank_terms& mine) {
  agreements_.may_go_on(f.is_loose);
  mine.copied = f.copied;
  mine.hope = investment_.hope_of(f, fields_);
  if (const auto learnt = job_.known().find(f.shape); learnt && learnt->best())
    mine.guess = hash_of(learnt->best()->first);
  f.of.write(mine.of_contest);
  job_.books().called(f.of.passed_seconds());
}

std::vector<std::int64_t> learner::agree(std::vector<std::int64_t> mine) {
  return agreements_.agree(std::move(mine), state_ ? &state_->all() : nullptr);
}

// A field's calls are to be compared. The first time this is the vote as well.
void learner::review(exchange_field& f) {
  if (!may_agree()) return f.of.postpone();
  if (stage_ == stage::cold && is_early(f)) return f.of.postpone();
  const agreements::payment paying(agreements_);
  const bool served = stage_ == stage::cold && job_.served().contain(comm_);
  if (stage_ == stage::cold && !served) return may_vote() ? begin_vote(&f) : f.of.postpone();
  const std::int64_t later = calls_until_heard(f, served);
  if (later == 0) return go_on(f, agreed_terms(agree(terms(&f).numbers())));
  said_ = std::make_unique<pending_agreement>(comm_, terms(&f).numbers());
  said_of_ = &f;
  heard_in_ = calls_ + later;
}

// Other communicators of the same ranks may tell that it is, though nothing of that was known when the field was new. A vote
// on one that the program uses no more never ends. Where programs of several kinds run, some ranks may have threads, which
// others do not know yet: these ranks do not know the order of their calls, and no rank waits for a vote elsewhere.
bool learner::is_early(const exchange_field& f) const {
  constexpr int patience = 4;
  const int first = first_agreement(f);
  if (f.of.calls() < first) return true;
  return f.of.calls() < patience * std::int64_t{first} && job_.served().are_voting(comm_) && !job_.parts().are_several;
}

// Ranks that may be calls apart hear each other some calls later, so that nobody waits. Whether they may be is not known yet the
// first time where one of the exchanges gives its ranks no reason to be together.
std::int64_t learner::calls_until_heard(const exchange_field& f, bool is_first) const {
  const bool by_memory = state_ && state_->all().memory().has_all_ranks();
  const bool may_be_apart = is_first ? !fields_.are_known_sizes(f.shape.form) : agreements_.is_waiting_lost();
  return may_be_apart && !by_memory ? std::max<std::int64_t>(8, calls_ / 8) : 0;
}

// At what the ranks say to each other meanwhile.
void learner::look() {
  if (is_revoked(comm_)) return;
  if (stage_ == stage::voting) vote_.look();
  if (said_) said_->look();
  if (vote_.ends_at(calls_)) go_on_voting();
  if (heard_in_ == calls_) end_review();
}

void learner::end_review() {
  const agreements::payment paying(agreements_);
  const double begin = PMPI_Wtime();
  const agreed_terms all(said_->wait(wait_));
  agreements_.note_wait(PMPI_Wtime() - begin, said_->apart());
  said_.reset();
  heard_in_ = -1;
  go_on(*said_of_, all);
}

void learner::go_on(exchange_field& f, const agreed_terms& all) {
  if (!all.same_calls()) return part();
  const bool served = stage_ == stage::cold;
  if (served) know(all);
  if (offered_.is_mapped()) take_memory(all.memory_error(), all.some_unreadable());
  if (stage_ == stage::never) return;
  if (all.some_copy_much()) close_candidates(f);
  else if (stage_ == stage::served && has_room(all.load())) open_candidates(f);
  hear(f, all);
  const bool was_made = is_made();
  if (stage_ == stage::known && investment_.pays(all)) set_up(all);
  else share_more(all);
  if (served || is_made() != was_made) note_outcome(all);
  look_again(f, all);
}

bool learner::may_agree() const {
  return ranks_ > 1 && stage_ != stage::never && stage_ != stage::voting && !said_ && !is_revoked(comm_);
}

// The same on every rank.
void learner::hear(exchange_field& f, const agreed_terms& all) {
  if (state_ && all.have_devices()) state_->all().know_of_devices();
  agreements_.hear(all, f.of);
  f.guess = all.guess();
  if (!fields_.are_known_sizes(f.shape.form)) {
    f.shape.size = size_class(what_, all.load(), ranks_);
    f.of.set_scattered(!fields_.agree_on_pattern(all.no_pattern()));
  }
  candidates_.teach(job_.known(), f);
  const decision& best = f.decisions[f.of.best()];
  if (f.is_open && best.algorithm) state_->settle(f.shape.form, f.shape.size, &best);
}

// ---- the vote --------------------------------------------------------------------------------------------------

// A vote hardly ever takes longer where every rank has a core; where they share cores others run while this one waits. What
// goes on beside other exchanges slows them down. Where a rank is ahead of others, what it waits may make all of them late.
constexpr double usual_vote = 2e-3, longest_vote = 20e-3;

bool learner::may_vote() {
  if (!linked_ && !is_of_one_world(comm_)) why_ = started_apart;
  else if (!linked_ && job_.parts().some_lack_preload) why_ = "some ranks of the job run without Shoal's preload";
  else if (vote_.some_gave_up()) why_ = "some ranks have SHOAL_ variables that others do not have";
  else return true;
  stage_ = stage::never;
  return false;
}

void learner::begin_vote(exchange_field* f) {
  asked_by_ = f;
  if (!job_.has_threads()) voting_.emplace(job_.served(), comm_);  // ranks know the order of their calls
  vote_.begin(terms(f).numbers(), calls_);
  if (f && !vote_.has_failed()) {
    const auto crowding = static_cast<double>(job_.ranks_of_a_core(ranks_));
    const double longest = f->is_loose ? agreements::time_slice : longest_vote;
    wait_for_vote(crowding > 1 ? std::min(longest, agreements::time_slice * crowding) : usual_wait());
  }
  stage_ = stage::voting;
}

// Where ranks may be ahead of others no longer than half of what their calls took so far.
double learner::usual_wait() const {
  return asked_by_ && asked_by_->is_loose ? std::min(usual_vote, asked_by_->of.native_seconds() / 2) : usual_vote;
}

bool learner::hear_vote() {
  if (vote_.wait_for(0)) return agreements_.note_wait(agreements_.last_wait(), vote_.apart()), true;
  return wait_for_vote(vote_.all_take_part() ? patience : std::min(usual_wait(), job_.books().allowance() / 2));
}

bool learner::wait_for_vote(double seconds) {
  const double begin = PMPI_Wtime();
  const bool is_heard = vote_.wait_for(seconds);
  agreements_.note_wait(PMPI_Wtime() - begin, vote_.apart());
  return is_heard;
}

void learner::go_on_voting() {
  const agreements::payment paying(agreements_);
  if (!vote_.is_confirming()) confirm_vote(hear_vote());
  if (!vote_.ends_at(calls_)) return;
  const double begin = PMPI_Wtime();
  const bool is_over = end_vote();
  const double seconds = PMPI_Wtime() - begin;
  if (is_over) judge();
  if (asked_by_ && asked_by_->is_loose && seconds > agreements_.last_wait()) agreements_.note_wait(seconds);
}

// In the second round they tell their times once more, and the first rank may offer memory.
void learner::confirm_vote(bool heard_all) {
  if (heard_all) agreed_ = agreed_terms(vote_.heard());
  std::vector<std::int64_t> mine(rank_times::terms + offered_memory::terms, unsaid);
  const std::span said(mine);
  if (rank_ == 0 && heard_all && asked_by_ && investment_.may_offer_memory(agreed_))
    offered_.make(agreed_.room(ranks_), ranks_, said.subspan(rank_times::terms));
  agreements_.times().write(said);
  vote_.confirm(heard_all, !asked_by_, mine, calls_);
}

// Whether every rank heard all.
bool learner::end_vote() {
  voting_.reset();
  if (vote_.end()) return true;
  offered_.drop();
  stage_ = vote_.has_failed_for_good() ? stage::never : stage::cold;
  if (stage_ == stage::never) why_ = "ranks were too far apart to agree, or some of them have no Shoal";
  if (asked_by_) asked_by_->of.postpone();
  return false;
}

bool learner::leave() {
  if (stage_ == stage::voting) stage_ = stage::cold;
  voting_.reset();
  said_.reset();
  heard_in_ = -1;
  return vote_.leave();
}

void learner::stop(const char* why) {
  if (stage_ == stage::never || stage_ == stage::served) return;
  leave();
  offered_.drop();
  stage_ = stage::never;
  why_ = why;
}

// Without a vote, for ranks that have cast it on another communicator.
void learner::know(const agreed_terms& all) {
  stage_ = stage::known;
  agreed_ = all;
  agreements_.hear(agreed_);
}

void learner::judge() {
  stage_ = stage::known;
  const std::string wrong = job_.wrong_settings(agreed_.same_settings(), agreed_.some_unusable());
  if (!wrong.empty()) return refuse(wrong, true);
  if (!agreed_.same_calls()) return part();
  const std::span<const std::int64_t> later = vote_.confirmed();  // other communicators may have spent since the first
  agreed_.take_times(later);
  agreements_.hear(agreed_);
  if (!agreed_.some_unlisted()) job_.served().add(comm_);
  if (!asked_by_) return;
  hear(*asked_by_, agreed_);
  const auto memory = later.subspan(rank_times::terms);
  if (offered_memory::is_made(memory) && investment_.pays_at_once(agreed_))
    offered_.map(agreed_.room(ranks_), ranks_, rank_ == 0, memory);
  else offered_.drop();
  if (!offered_.is_mapped() && investment_.pays(agreed_)) set_up(agreed_);
  look_again(*asked_by_, agreed_);
  note_outcome(agreed_);
}

// For other communicators of the same ranks.
void learner::note_outcome(const agreed_terms& all) const {
  if (!all.some_unlisted()) job_.served().note(comm_, is_made(), !all.some_have_full_notes());
}

// After the next call where all have mapped memory, or else when what is not made yet may pay.
void learner::look_again(exchange_field& f, const agreed_terms& all) {
  if (offered_.is_mapped()) return f.of.hasten();
  const auto calls = investment_.calls_until_hope(all, f.of.calls());
  if (!f.is_open && calls && agreements_.price() <= all.allowance()) f.of.agree_within(*calls);
}

// On every rank: what they decide by the numbers of their calls would differ from now on.
void learner::part() {
  for (auto& [key, f] : fields_) close_candidates(f);
  offered_.drop();
  refuse("ranks have counted different numbers of calls", false);
}

void learner::refuse(const std::string& why, bool wrong) {
  stage_ = stage::never;
  why_ = why;
  wrong_ = wrong;
  if (!wrong) warn_once(comm_, why);
}

// ---- becoming served -------------------------------------------------------------------------------------------

void learner::set_up(const agreed_terms& all) {
  if (&all != &agreed_) agreed_ = all;
  if (job_.is_on_one_node(ranks_, agreed_.same_node())) return share(agreed_.room(ranks_));
  if (make_state()) serve();
}

// The first rank gives the others memory.
void learner::share(std::size_t most) {
  std::vector<std::int64_t> said(offered_memory::terms, unsaid);
  if (rank_ == 0) offered_.make(most, ranks_, said);
  offered_.map(most, ranks_, rank_ == 0, agree(std::move(said)));
}

// All have mapped it, or nobody has it: the largest of the ranks' errors tells.
void learner::take_memory(std::int64_t error, bool unreadable) {
  node_exchange::mapped memory = offered_.take(error, unreadable);
  if (!make_state()) return;
  if (error == 0) state_->all().memory().take(std::move(memory));
  if (stage_ == stage::known) return serve();
  if (error != 0) return;  // what serves is as it was
  for (auto& [key, f] : fields_) f.of.try_anew();
}

// Larger exchanges get more, where the ledger allows it and one memory is all ranks' already.
void learner::share_more(const agreed_terms& all) {
  if (has_room(all.load()) || !investment_.pays(all)) return;
  share(all.room(ranks_));
}

// False, on every rank: what is set does not fit these ranks, which is told, and the MPI's own serves.
bool learner::make_state() {
  try {
    if (!state_) state_ = make_communicator(comm_, ranks_, job_, agreed_, wait_);
  } catch (const std::invalid_argument& error) {
    refuse(error.what(), true);
  }
  return static_cast<bool>(state_);
}

// What may serve from now on.
void learner::serve() {
  if (state_->all().where().nodes->nodes() > 1 && !state_->all().is_open()) open_state();
  if (!state_) return;
  stage_ = stage::served;
  candidates_.list(what_, state_->all());
  for (auto& [key, f] : fields_) open_if_known(f);
}

// Whether exchanges of this load, in bytes, fit into what is made; else parts of them would take a longer way, and seem slow.
bool learner::has_room(double load) const {
  return offered_.shared_for() == 0 || load <= static_cast<double>(offered_.shared_for());
}

// Where all ranks know the load of its exchanges; else they agree on it first.
void learner::open_if_known(exchange_field& f) {
  const double load = fields_.are_known_sizes(f.shape.form) ? f.load : load_;
  if (offered_.shared_for() > 0 && (load == 0 || !has_room(load))) return;
  if (fields_.are_known_sizes(f.shape.form) && f.copied > most_copied) return;  // on every rank, as MPI_IN_PLACE is
  const agreements::payment paying(agreements_);
  open_candidates(f);
}

// What serves through memory alone goes on without.
void learner::open_state() {
  constexpr const char* none_left = "the MPI library has no communicator left for Shoal";
  is_counted_ = state_->all().open();
  if (is_counted_) return job_.count_open(1);
  if (stage_ == stage::served) return void(why_ = none_left);
  state_.reset();
  refuse(none_left, false);
}

prepared_algorithms* learner::algorithms_for(call_form form) {
  if (what_ == collective::alltoall) return &state_->algorithms();
  const auto& among = neighborhoods_.make(*state_, form, why_);  // nobody has asked, so only the report tells why not
  return among ? &among->algorithms() : nullptr;
}

// Of exchanges of a size that all ranks know.
std::optional<knowledge::of_shape> learner::expected(const exchange_field& f) const {
  return knows_ ? investment_.expected(f, state_->followed().get(), agreed_) : std::nullopt;
}

void learner::close_candidates(exchange_field& f) {
  for (int i = contest::native + 1; i < contest::most_candidates; ++i) f.of.close(i);
  f.is_open = false;
}

void learner::open_candidates(exchange_field& f) {
  if (f.is_open) return;
  f.is_open = true;
  f.shape.nodes = nodes();
  const bool same_size = fields_.are_known_sizes(f.shape.form) || load_ > 0;  // on every rank
  if (!fields_.are_known_sizes(f.shape.form) && load_ > 0)
    f.shape = fields_.shape_of(f.shape.form, f.load = load_, nodes());
  const auto known = same_size && f.of.calls() == 0 ? expected(f) : std::nullopt;
  candidates_.add_levels(f, state_->all().where(), agreed_);
  prepared_algorithms* const ready = candidates_.are_several() || known ? algorithms_for(f.shape.form) : nullptr;
  if (!ready) return;
  if (known) candidates_.assume(f, *known);
  candidates_.open(f, *ready);
}

// ---- at once, for what is asked for or known --------------------------------------------------------------------

// In a program that calls Shoal all ranks have it, and they agree on settings at once; so they do where a profile or wisdom
// may tell what to begin with.
void learner::begin_agreed(const call_size& call) {
  const bool known_alike = !linked_ && job_.knowing().contain(comm_),
             may_gain = job_.may_gain(what_, call.form, ranks_);
  if (known_alike && !may_gain) return;
  const agreements::payment paying(agreements_);
  load_ = fields_.load_of(call);
  if (known_alike) know(agreed_terms(agree(terms(nullptr).numbers())));
  else vote_at_once();
  load_ = 0;
  if (stage_ != stage::known || !job_.knows_before()) return;
  if (agreed_.some_know_nothing()) return warn_once(comm_, job_state::differing_profiles, "none is used");
  knows_ = agreed_.same_wisdom();
  const bool alike = knows_ && agreed_.same_profile();
  if (alike && !agreed_.some_unlisted()) job_.knowing().add(comm_);
  if (!alike || linked_ || may_gain) begin_as_known(call);
}

// With what a profile or an earlier job tells of such exchanges.
void learner::begin_as_known(const call_size& call) {
  enter_known();
  if (!state_) return;
  load_ = agreed_.load();
  exchange_field first;
  first.load = fields_.are_known_sizes(call.form) ? fields_.load_of(call) : load_;
  first.shape = fields_.shape_of(call.form, first.load, nodes());
  if (agreed_.have_devices() || !expected(first)) return;
  set_up(agreed_);
  if (!offered_.is_mapped()) return;
  const std::vector<std::int64_t> all = agree({offered_.error(), offered_.is_unreadable()});
  take_memory(all[0], all[1]);
}

void learner::vote_at_once() {
  if (stage_ == stage::cold && !may_vote()) return warn_once(comm_, why_);
  if (stage_ == stage::cold) begin_vote(nullptr);
  if (stage_ != stage::voting) return;
  if (!vote_.is_confirming()) confirm_vote(wait_for_vote(linked_ || job_.still_waits() ? patience : usual_vote));
  const bool all_came = end_vote();
  job_.count_absence(!all_came);
  if (all_came) return judge();
  refuse(
      "other ranks took no part in an agreement on settings in time; preload Shoal on all ranks, and set the "
      "SHOAL_ variables the same",
      false);
  constexpr int some_ranks = 8;
  if (rank_ < some_ranks) say_once(why_);  // rank 0 may know nothing of it
}

communicator* learner::enter(bool is_linked) {
  if (enter_for_natives(is_linked) && !state_->all().is_open()) open_state();
  return wrong_ || !state_ || !state_->all().is_open() ? nullptr : state_.get();
}

communicator* learner::enter_for_natives(bool is_linked) {
  linked_ |= is_linked;
  was_entered_ = true;
  is_idle_ = false;
  vote_at_once();
  if (stage_ == stage::known) enter_known();
  return wrong_ ? nullptr : state_.get();
}

bool learner::asks_for_natives(call_form form) const {
  return state_ ? state_->asked().asks_for_natives(form) : job_.asks_for_natives(what_, form);
}

void learner::enter_known() {
  if (agreed_.some_full()) {  // no fault, so only the report tells
    stage_ = stage::never;
    why_ = "more than " + std::to_string(job_state::most_communicators) + " communicators in use";
    return;
  }
  make_state();
}

bool learner::is_asked(call_form form, MPI_Info info) const {
  if (stage_ == stage::never && !state_) return wrong_;
  if (what_ != collective::alltoall) return false;  // such calls do not come here
  return info != MPI_INFO_NULL || job_.asks_for(what_, form) || (state_ && state_->asked().standing(form));
}

// ---- for the user ----------------------------------------------------------------------------------------------

std::string learner::explain() const {
  if (is_idle_) return "the MPI library's own collective: this rank is alone";
  const bool is_settled = last_served_.in && (!state_ || !state_->last || state_->last == &last_served_.chosen());
  if (state_ && state_->last && !is_settled) return state_->last->algorithm->spec + ": " + state_->last->reason;
  if (!is_settled && !why_.empty()) return "the MPI library's own collective: " + why_;
  if (!is_settled && calls_ > 0) return "native: after " + std::to_string(calls_) + " calls";
  if (!is_settled) return "nothing was exchanged on this communicator yet";
  const exchange_field& f = *last_served_.in;
  const std::string spec =
      last_served_.candidate == contest::native ? "native" : candidates_.specs()[last_served_.candidate];
  return spec + ": " + f.told(candidates_.specs());
}

}  // namespace shoal
