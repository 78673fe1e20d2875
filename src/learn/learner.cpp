#include "learn/learner.hpp"

#include <algorithm>
#include <limits>
#include <span>
#include <utility>

#include "select/plain_text.hpp"
#include "team/errors.hpp"
#include "team/fault_tolerance.hpp"
#include "team/mpi_neighbors.hpp"
#include "team/node_clock.hpp"
#include "team/progress.hpp"
#include "transport/mpi_error.hpp"

namespace shoal {

namespace {

int ranks_of(MPI_Comm comm) {
  int ranks = 0;
  require(PMPI_Comm_size(comm, &ranks), "MPI_Comm_size");
  return ranks;
}

int rank_in(MPI_Comm comm) {
  int rank = 0;
  require(PMPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  return rank;
}

}  // namespace

learner::learner(job_state& job, MPI_Comm comm, collective what)
    : job_(job),
      comm_(comm),
      what_(what),
      ranks_(ranks_of(comm)),
      rank_(rank_in(comm)),
      blocks_(what == collective::alltoall ? ranks_ : neighbors_of(comm).sent),
      is_watched_(job.is_watched()),
      is_idle_(ranks_ == 1 && !is_watched_ && !job.asks_for_anything()) {}

learner::agreeing::agreeing(learner& of)
    : wait(moving_meanwhile(of.waits_by(), of.job_.ranks_of_a_core(of.ranks_))),
      agrees(of.comm_, of.job_.books(), wait),
      votes(of.job_, of.comm_, of.ranks_, of.stands_, agrees, wait),
      serves(of.job_, {of.comm_, of.what_, of.ranks_, of.rank_, of.fields_}, of.stands_, agrees, wait) {}

wait_mode learner::waits_by() const {
  return begun_ ? begun_->wait.mode() : job_.set().wait.value_or(standard_wait_mode(job_.facts(), ranks_));
}

// Many communicators see only a few calls, which need none of this.
void learner::begin_to_agree() {
  if (!begun_) begun_ = std::make_unique<agreeing>(*this);
}

// ---- a call ----------------------------------------------------------------------------------------------------

learner::serving learner::begin(const call_size& call, bool is_linked) {
  exchange_field* const passed = is_looked_at() ? passing(call.form, call.bytes) : nullptr;
  if (passed) return {passed, contest::native, call, true, true, false};
  ++calls_;
  named_pass_ = false;
  linked_ = is_linked;
  if (!std::exchange(was_called_, true) && (is_linked || job_.knows_before())) begin_agreed(call);
  if (has_to_look()) look();
  if (is_young(call)) return {.size = call, .is_timed = is_watched_, .is_placed = false};
  exchange_field& f = field_of(call);
  const int candidate = f.trials.next();
  const bool passes = stands_.now != stage::voting && f.trials.passes();
  return {&f, candidate, call, is_watched_ || !passes, passes};
}

// Every rank takes this way in the same calls, even if somebody wants to know of them. It should look at little of
// Shoal's memory: if ranks share a core, each of them finds that memory cold. While an agreement is under way no call
// passes, because Shoal has to see the call in which it ends.
exchange_field* learner::passing(call_form form, std::int64_t bytes) {
  exchange_field* const f = has_to_look() ? nullptr : fields_.known(form, bytes);
  if (!f || f->trials.best() != contest::native || (was_entered_ && names_algorithm(form, MPI_INFO_NULL)) ||
      !f->trials.passes())
    return nullptr;
  ++calls_;
  named_pass_ = false;
  if ((was_entered_ || last_served_.candidate != contest::native) && state()) state()->last = nullptr;
  last_served_.in = f;
  last_served_.candidate = contest::native;
  return f;
}

void learner::have_passed(int calls) {
  if (named_pass_) return;
  was_called_ = was_called_ || calls > 0;
  calls_ += calls;
  if (last_served_.in) last_served_.in->trials.pass(calls);
  else young_.add_again(calls);
}

void learner::let_named_pass() {
  if (is_watched_) return;
  named_pass_ = true;
  may_pass_ = std::numeric_limits<int>::max();
}

bool learner::meets_others_first(bool is_linked) const {
  if (!was_called_ && (is_linked || job_.knows_before())) return true;
  if (stands_.now != stage::voting && !pending_)
    return false;  // before votes(), so that most calls look at no more memory than begin() does
  const std::int64_t next = calls_ + 1;
  return votes().ends_at(next) || pending_ends_in_ == next;
}

bool learner::is_young(const call_size& call) const {
  return stands_.now == stage::cold &&
         first_calls::contain(calls_, fields_.are_known_sizes(call.form), fields_.load_of(call));
}

void learner::end(const serving& of, double seconds) {
  last_served_ = of;
  if (!of.in) return end_first(of.size, seconds);
  if (of.candidate == contest::native && state()) state()->last = nullptr;
  if (!of.is_timed) return;
  if (of.passes) return of.in->note(of.candidate, seconds);
  job_.books().called(seconds);
  exchange_field& f = *of.in;
  f.add(of.candidate, seconds, PMPI_Wtime());
  if (f.trials.calls() == 1 && stands_.now == stage::served)
    serves().open_if_known(f);  // not before the call: the MPI might have refused it
  if (f.trials.is_due()) review(f);
}

// What the call took matters only if somebody watches. If nobody does, more calls like it may pass.
void learner::end_first(const call_size& call, double seconds) {
  young_.add(call.form, fields_.load_of(call), seconds);
  if (is_watched_) job_.books().called(seconds);
  else may_pass_ = first_calls::left_behind(calls_);
}

void learner::give_way(const serving& of) {
  last_served_ = of;
  of.in->trials.gave_way(of.passes);
  review(*of.in);
}

void learner::take_back(const serving& of) {
  --calls_;
  if (of.passes) of.in->trials.take_back();
  if (of.is_placed) fields_.take_back(of.size.form);
  if (of.in && of.in->trials.calls() == 0) fields_.forget(*of.in);  // other ranks may never make a field like it
}

void learner::take_back_passed() {
  if (named_pass_) return;
  --calls_;
  if (last_served_.in) last_served_.in->trials.take_back();
  else young_.add_again(-1);
}

exchange_field& learner::field_of(const call_size& call) {
  bool is_new = false;
  exchange_field& f = fields_.of_next(call, is_new);
  f.may_be_ahead = !call.receives_from_all;
  f.copied = call.copied;
  if (!is_new) return f;
  f.shape = fields_.shape_of(call.form, f.load, nodes());
  if (fields_.size() == 1) f.young = calls_ - 1;
  if (stands_.now != stage::served) f.trials.wait_first(first_agreement(f));
  if (stands_.now == stage::served && stands_.knows) serves().open_if_known(f);
  return f;
}

// One-node times must not stand for those of ranks on several nodes, so a field is of no known shape until the ranks
// have told each other where they are.
int learner::nodes() const {
  if (state()) return serves().nodes();
  const bool found = job_.is_on_this_node() || (stands_.now == stage::known && stands_.agreed.same_node());
  return job_.nodes_if_known(ranks_, found);
}

// ---- what the ranks agree on -----------------------------------------------------------------------------------

// After how many calls the ranks first agree on this field, as far as this rank can tell now.
int learner::first_agreement(const exchange_field& f) const {
  const std::int64_t others = calls_ - std::max<std::int64_t>(1, f.trials.calls());
  const int fruitless_agreements = stands_.now == stage::cold ? job_.served().fruitless_agreements(comm_) : 0;
  return calls_before_agreement(fields_.are_known_sizes(f.shape.form), f.load, ranks_, others, fruitless_agreements);
}

// What this rank says about a field; null: about the calls to come.
rank_terms learner::terms(exchange_field* f) {
  rank_terms mine = job_.terms(ranks_);
  serves().write(mine);
  mine.set_load(stands_.load);
  fields_.write_pattern(mine.no_pattern);
  mine.largest_load = fields_.largest_usual_load();
  if (f) add_terms(*f, mine);
  mine.said_at = node_clock();
  mine.times = agrees().times();
  mine.calls = static_cast<std::uint64_t>(calls_);
  return mine;
}

// Also tells the ledger how long passed calls took, since what may be spent depends on the time of all calls.
void learner::add_terms(exchange_field& f, rank_terms& mine) {
  agrees().may_go_on(f.may_be_ahead);
  mine.copied = f.copied;
  mine.hope = serves().worth().hope_of(f, fields_);
  if (const auto learnt = job_.known().find(f.shape); learnt && learnt->best())
    mine.guess = hash_of(learnt->best()->first);
  f.trials.write(mine.of_contest, PMPI_Wtime());
  job_.books().called(f.trials.passed_seconds());
}

// Begins an agreement on a field whose calls are to be compared now, or puts it off. The first time the ranks vote as
// well.
void learner::review(exchange_field& f) {
  if (!may_agree()) return f.trials.postpone();
  if (stands_.now == stage::cold && is_early(f)) return f.trials.postpone();
  begin_to_agree();
  const agreements::payment paying(agrees());
  const bool served = stands_.now == stage::cold && job_.served().contain(comm_);
  if (stands_.now == stage::cold && !served) return votes().may_begin(linked_) ? begin_vote(&f) : f.trials.postpone();
  const std::int64_t later = calls_until_heard(f, served);
  if (later == 0) return go_on(f, agreed_terms(serves().agree(terms(&f).numbers())));
  pending_ = std::make_unique<pending_agreement>(comm_, terms(&f).numbers());
  pending_field_ = &f;
  pending_ends_in_ = calls_ + later;
}

// Whether it is too early to vote on this field. Other communicators of the same ranks may tell so, even if nothing of
// that was known when the field was new. Ranks wait only some time for the end of a vote elsewhere, because a vote
// never ends on a communicator that the program no longer uses. In a job of several parts they do not wait for it at
// all: some ranks may have threads, so they do not know the order of their calls, and the others do not know that yet.
bool learner::is_early(const exchange_field& f) const {
  constexpr int patience = 4;
  const int first = first_agreement(f);
  if (f.trials.calls() < first) return true;
  return f.trials.calls() < patience * std::int64_t{first} && job_.served().are_voting(comm_) &&
         !job_.parts().are_several;
}

// After how many calls the ranks hear what they say to each other. If they may be several calls apart, they hear it
// some calls later, so that nobody waits. The first time it is not known yet how far apart they are. Then they may be
// apart if the exchange does not keep them together, as MPI_Alltoall does.
std::int64_t learner::calls_until_heard(const exchange_field& f, bool is_first) const {
  const bool by_memory = state() && state()->all().memory().has_all_ranks();
  const bool may_be_apart = is_first ? !fields_.are_known_sizes(f.shape.form) : agrees().is_waiting_lost();
  return may_be_apart && !by_memory ? std::max<std::int64_t>(8, calls_ / 8) : 0;
}

// Looks at the vote and the agreement under way, and ends what has to end in this call.
void learner::look() {
  if (is_revoked(comm_)) return;
  if (stands_.now == stage::voting) votes().look();
  else if (looks_back_until_ > 0) look_back();
  if (pending_) pending_->look();
  if (votes().ends_at(calls_)) go_on_voting();
  if (pending_ends_in_ == calls_) end_review();
}

// A vote has failed, and others may wait for its end. Some ranks may never come to it, so this rank looks only for a
// while.
void learner::look_back() {
  if (votes().look_back(calls_ >= looks_back_until_)) looks_back_until_ = 0;
}

void learner::end_review() {
  const agreements::payment paying(agrees());
  const double begin = PMPI_Wtime();
  const agreed_terms all(pending_->wait(begun_->wait));
  agrees().note_wait(PMPI_Wtime() - begin, pending_->apart());
  pending_.reset();
  pending_ends_in_ = -1;
  go_on(*pending_field_, all);
}

void learner::go_on(exchange_field& f, const agreed_terms& all) {
  if (!all.same_calls()) return stop_for_differing_calls();
  const bool served = stands_.now == stage::cold;
  if (served) know(all);
  if (serves().is_mapped()) serves().take_memory(all.memory_error(), all.some_unreadable());
  if (stands_.now == stage::never) return;
  if (all.some_copy_much()) service::close(f);
  else serves().open_if_roomy(f, all);
  hear(f, all);
  const bool was_made = serves().is_made();
  if (stands_.now == stage::known && serves().worth().pays(all)) serves().set_up(all);
  else serves().share_more(all);
  if (served || serves().is_made() != was_made) note_outcome(all);
  look_again(f, all);
}

bool learner::may_agree() const {
  return ranks_ > 1 && stands_.now != stage::never && stands_.now != stage::voting && !pending_ && !is_revoked(comm_);
}

// Takes in what was agreed about the field. Does the same on every rank.
void learner::hear(exchange_field& f, const agreed_terms& all) {
  if (state() && all.have_devices()) state()->all().know_of_devices();
  // Between nodes it is not known how many ranks share a core where the launcher does not tell.
  const int sharing = job_.is_on_one_node(ranks_, all.same_node()) ? all.ranks_of_a_core() : 1;
  agrees().hear(all, f.trials, sharing);
  f.guess = all.guess();
  f.shape.nodes = nodes();
  if (!fields_.are_known_sizes(f.shape.form)) {
    f.shape.size = size_class(what_, all.load(), ranks_);
    f.trials.set_scattered(!fields_.agree_on_pattern(all.no_pattern()));
  }
  serves().tried().teach(job_.known(), f);
  const decision& choice = f.decisions[f.trials.choice()];
  if (f.is_open && choice.algorithm) state()->settle(f.shape.form, f.shape.size, &choice);
}

// ---- the vote --------------------------------------------------------------------------------------------------

void learner::begin_vote(exchange_field* f) { votes().begin(f, terms(f).numbers(), calls_); }

void learner::go_on_voting() {
  const agreements::payment paying(agrees());
  if (!votes().is_confirming()) confirm_vote(votes().hear());
  if (!votes().ends_at(calls_)) return;
  const double begin = PMPI_Wtime();
  const bool is_over = end_vote();
  const double seconds = PMPI_Wtime() - begin;
  if (is_over) judge();
  votes().note_end(seconds);
}

// In the second round the ranks tell their times once more, and the first rank may offer memory.
void learner::confirm_vote(bool heard_all) {
  std::vector<std::int64_t> mine(rank_times::terms + offered_memory::terms, unsaid);
  const std::span said(mine);
  if (rank_ == 0 && heard_all && votes().wanted_by() && serves().worth().may_offer_memory(stands_.agreed))
    serves().offer(said.subspan(rank_times::terms));
  agrees().times().write(said);
  votes().confirm(heard_all, mine, calls_);
}

// Returns whether every rank has heard all others.
bool learner::end_vote() {
  const bool is_over = votes().end();
  if (is_over) return true;
  serves().drop_offer();
  looks_back_until_ = 2 * calls_;
  return false;
}

learner::~learner() { leave(); }

// Waits only a short time: a rank whose call is refused may never come to what the others have begun to agree on.
void learner::leave() {
  constexpr double patience = 0.1;
  if (pending_) pending_->wait_or_abandon(patience, begun_->wait);
  forget_pending();
  if (begun_) begun_->votes.leave();
}

// Waits for nobody, as the MPI's own MPI_Comm_free does not.
bool learner::let_go() {
  const bool has_ended = !pending_ || pending_agreement::let_go(std::move(pending_));
  forget_pending();
  return (!begun_ || begun_->votes.let_go()) && has_ended;
}

void learner::forget_pending() {
  pending_.reset();
  pending_ends_in_ = -1;
  looks_back_until_ = 0;
}

void learner::stop(const char* why) {
  if (stands_.now == stage::never || stands_.now == stage::served) return;
  leave();
  if (begun_) begun_->serves.drop_offer();
  stands_.now = stage::never;
  stands_.why = why;
}

// Takes in what was agreed without a vote, by ranks that have voted on another communicator.
void learner::know(const agreed_terms& all) {
  stands_.now = stage::known;
  stands_.agreed = all;
  agrees().hear(all);
}

void learner::judge() {
  agreed_terms& agreed = stands_.agreed;
  stands_.now = stage::known;
  const std::string wrong = job_.wrong_settings(agreed.same_settings(), agreed.some_unusable());
  if (!wrong.empty()) return refuse(wrong, true);
  if (!agreed.same_calls()) return stop_for_differing_calls();
  const std::span<const std::int64_t> later =
      votes().confirmed();  // ranks may have spent time elsewhere since the first round
  agreed.take_times(later);
  agrees().hear(agreed);
  if (!agreed.some_cannot_note_vote()) job_.served().add(comm_);
  exchange_field* const f = votes().wanted_by();
  if (!f) return;
  hear(*f, agreed);
  serves().take_offer(later.subspan(rank_times::terms));
  if (!serves().is_mapped() && serves().worth().pays(agreed)) serves().set_up(agreed);
  look_again(*f, agreed);
  note_outcome(agreed);
}

// Remembers the outcome for other communicators of the same ranks.
void learner::note_outcome(const agreed_terms& all) const {
  if (!all.some_cannot_note_vote()) job_.served().note(comm_, serves().is_made(), !all.some_have_full_notes());
}

// Sets when the ranks agree on the field again: after the next call if all have mapped memory, or else when what is not
// made yet may pay.
void learner::look_again(exchange_field& f, const agreed_terms& all) {
  if (serves().is_mapped()) return f.trials.hasten();
  const auto calls = serves().worth().calls_until_hope(all, f.trials.calls());
  if (!f.is_open && calls && agrees().price() <= all.allowance()) f.trials.agree_within(*calls);
}

// Called on every rank if ranks have counted different numbers of calls: what they decide by these would differ from
// now on.
void learner::stop_for_differing_calls() {
  serves().close_all();
  refuse("ranks have counted different numbers of calls", false);
}

// ---- at once, for what is asked for or known --------------------------------------------------------------------

// If the program calls Shoal itself, all ranks have Shoal and agree on settings in the first call. They also do so if a
// profile or wisdom may tell what to begin with.
void learner::begin_agreed(const call_size& call) {
  const bool known_alike = !linked_ && job_.knowing().contain(comm_),
             may_gain = job_.may_gain(what_, call.form, ranks_);
  if (known_alike && !may_gain) return;
  begin_to_agree();
  const agreements::payment paying(agrees());
  stands_.load = fields_.load_of(call);
  if (known_alike) know(agreed_terms(serves().agree(terms(nullptr).numbers())));
  else vote_at_once();
  stands_.load = 0;
  if (stands_.now != stage::known || !job_.knows_before()) return;
  const agreed_terms& agreed = stands_.agreed;
  if (agreed.some_know_nothing()) return warn_once(comm_, job_state::differing_profiles, "none is used");
  stands_.knows = agreed.same_wisdom();
  const bool alike = stands_.knows && agreed.same_profile();
  if (alike && !agreed.some_cannot_note_vote()) job_.knowing().add(comm_);
  if (!alike || linked_ || may_gain) begin_as_known(call);
}

// Begins with what a profile or an earlier job tells about such exchanges.
void learner::begin_as_known(const call_size& call) {
  enter_known();
  if (!state()) return;
  stands_.load = stands_.agreed.load();
  exchange_field first;
  first.load = fields_.are_known_sizes(call.form) ? fields_.load_of(call) : stands_.load;
  first.shape = fields_.shape_of(call.form, first.load, nodes());
  if (!stands_.agreed.have_devices() && serves().expected(first)) serves().set_up_whole(stands_.agreed);
}

void learner::vote_at_once() {
  begin_to_agree();
  if (stands_.now == stage::cold && !votes().may_begin(linked_)) return warn_once(comm_, stands_.why);
  if (stands_.now == stage::cold) begin_vote(nullptr);
  if (stands_.now != stage::voting) return;
  if (!votes().is_confirming()) confirm_vote(votes().hear_at_once(linked_ || job_.still_waits()));
  const bool all_came = end_vote();
  job_.count_absence(!all_came);
  if (all_came) return judge();
  refuse(
      "other ranks did not join an agreement on settings in time; preload Shoal on all ranks, and set the same "
      "SHOAL_ variables on all of them",
      false);
  constexpr int some_ranks = 8;
  if (rank_ < some_ranks) say_once(stands_.why);  // rank 0, which warns, may know nothing of it
}

communicator* learner::enter(bool is_linked) {
  if (enter_for_natives(is_linked) && !state()->all().is_open()) serves().open_state();
  return stands_.is_wrong || !state() || !state()->all().is_open() ? nullptr : state();
}

communicator* learner::enter_for_natives(bool is_linked) {
  linked_ |= is_linked;
  was_entered_ = true;
  is_idle_ = false;
  vote_at_once();
  if (stands_.now == stage::known) enter_known();
  return stands_.is_wrong ? nullptr : state();
}

bool learner::asks_for_natives(call_form form) const {
  neighborhood* const those = among(form);
  return those ? those->named().asks_for_natives(form) : job_.asks_for_natives(what_, form);
}

void learner::enter_known() {
  if (stands_.agreed.some_full()) {  // not an error, so only the report tells
    stands_.now = stage::never;
    stands_.why = "Shoal has its limit of " + std::to_string(job_state::most_communicators) + " communicators in use";
    return;
  }
  serves().make_state();
}

bool learner::names_algorithm(call_form form, MPI_Info info) const {
  if (stands_.now == stage::never && !state()) return stands_.is_wrong;
  if (info != MPI_INFO_NULL || job_.asks_for(what_, form)) return true;
  neighborhood* const those = among(form);
  return those && those->named().standing(form);
}

std::span<const std::string> learner::specs() const {
  return begun_ ? std::span<const std::string>(begun_->serves.tried().specs()) : std::span<const std::string>();
}

// ---- for the user ----------------------------------------------------------------------------------------------

std::string learner::explain() const {
  if (is_idle_) return "the MPI library's own collective: this rank is alone";
  const bool is_settled = last_served_.in && (!state() || !state()->last || state()->last == &last_served_.chosen());
  if (state() && state()->last && !is_settled) return state()->last->algorithm->spec + ": " + state()->last->reason;
  if (!is_settled && !stands_.why.empty()) return "the MPI library's own collective: " + stands_.why;
  if (!is_settled && calls_ > 0) return "native: after " + counted(calls_, "call");
  if (!is_settled) return "nothing was exchanged on this communicator yet";
  const exchange_field& f = *last_served_.in;
  const int served = f.trials.is_comparing() ? f.trials.choice() : last_served_.candidate;
  return (served == contest::native ? "native" : specs()[static_cast<std::size_t>(served)]) + ": " + f.summary(specs());
}

}  // namespace shoal
