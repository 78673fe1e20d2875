#include "learn/learner.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "model/best_levels.hpp"
#include "team/agree_on_facts.hpp"
#include "team/errors.hpp"
#include "team/fault_tolerance.hpp"
#include "team/progress.hpp"
#include "transport/mpi_error.hpp"

namespace shoal {

namespace {

// What each rank says in an agreement, and hears the largest of. Where all must say the same they say it and its
// negative; where the least counts, its negative.
enum term : std::size_t {
  settings_most,
  settings_least,
  unusable,
  full,
  profile_most,
  profile_least,  // NOLINT: a line a group
  node_most,
  node_least,
  domain_most,
  domain_least,
  devices,
  few_cores,  //
  little_allowance,
  paid_least,
  hoped_gain,
  in_wisdom_most,
  in_wisdom_least,  //
  no_pattern,
  guess = no_pattern + size_pattern::longest,
  unknowing,
  crowding,
  agreed_least,
  agreed_most,
  unlisted,
  unmapped,  // the number of an error
  unreadable,
  of_contest,
  all_terms = of_contest + contest::terms
};

// What each rank says in the second vote.
enum second_term : std::size_t {
  unheard,
  gives_up,  // where this vote fails too
  heard_least,
  heard_most,
  left_least,
  paid_till_then,
  of_memory,
  all_second_terms = of_memory + offered_memory::terms
};
constexpr std::int64_t none = std::numeric_limits<std::int64_t>::min();
constexpr const char* differing_profiles =
    "the profiles of ranks differ; set SHOAL_PROFILE to the same readable file on all of them";

std::int64_t half_of(std::uint64_t hash) { return static_cast<std::int64_t>(hash >> 1); }
double seconds_of(std::int64_t nanoseconds) { return static_cast<double>(nanoseconds) * 1e-9; }
std::int64_t nanoseconds_of(double seconds) { return std::llround(seconds * 1e9); }

void say_same(std::vector<std::int64_t>& all, std::size_t at, std::uint64_t hash) {
  all[at] = half_of(hash);
  all[at + 1] = -half_of(hash);
}
std::int64_t ranks_of_a_core(std::span<const std::int64_t> all) { return std::max<std::int64_t>(1, all[crowding]); }
std::int64_t negative(std::int64_t number) { return number == none ? none : -number; }
bool same(std::span<const std::int64_t> all, std::size_t at) { return all[at] == -all[at + 1]; }

// Memory is touched for each page of it, so it is as large as the exchanges need: for so many bytes that a rank sends.
// Agreements go through it too.
std::size_t room_for(std::span<const std::int64_t> all, int ranks) {
  constexpr double page = 4096, large = 1 << 18;
  const double load = std::exp2(static_cast<double>(all[of_contest + contest::most_candidates]) / 4);
  const double room = std::ceil(std::max(1.25 * load, 8.0 * static_cast<double>(all_terms) * ranks) / page) * page;
  return room < large ? static_cast<std::size_t>(room) : node_window::any;
}

// Of a communicator's first calls only counts are kept: many a communicator sees no more.
constexpr int young_calls = 8;

// All ranks know how large the exchanges of MPI_Alltoall are, and large ones pay for an agreement soon.
bool is_large(call_form form, double load) { return form == call_form::equal && load >= 1 << 18; }

// After how many calls of a kind, behind so many others, the ranks agree for the first time. An agreement takes as long as
// one or two small calls: so there have to be many of these, and more where many ranks agree.
int cold_calls(call_form form, double load, int ranks, std::int64_t earlier) {
  constexpr double medium = 1 << 15;
  if (is_large(form, load)) return contest::cold_calls;
  const int calls = std::clamp(ranks * 3 / 2, form == call_form::equal && load >= medium ? 24 : 48, 64);
  return calls - static_cast<int>(std::min<std::int64_t>(young_calls, earlier));
}

}  // namespace

learner::learner(job_state& job, MPI_Comm comm) : job_(job), comm_(comm) {
  require(PMPI_Comm_size(comm, &ranks_), "MPI_Comm_size");
  require(PMPI_Comm_rank(comm, &rank_), "MPI_Comm_rank");
  wait_ = waiting(job.set().wait.value_or(polite_mode(job.facts(), ranks_)));
  wait_.move_meanwhile([] { return progress::get().move(); });
}

// Time that this rank spends on learning. Some of it is spent on waiting for others that are late anyway, so the job pays
// only what the rank that waited least has paid: the ranks hear of that when they agree the next time.
class learner::payment {
 public:
  explicit payment(learner& of) : of_(of), begin_(PMPI_Wtime()) {}
  ~payment() {
    const double seconds = PMPI_Wtime() - begin_;
    of_.job_.books().spend(seconds);
    of_.paid_ += seconds;
  }
  payment(const payment&) = delete;
  payment& operator=(const payment&) = delete;

 private:
  learner& of_;
  double begin_;
};

// A vote that some rank never takes part in never ends.
learner::~learner() {
  double patience = 0.1;  // for all of them
  const auto end = [&](std::unique_ptr<pending_agreement>& vote) {
    if (vote && !vote->wait_or_abandon(patience, wait_)) patience = 0;
  };
  end(vote_);
  std::for_each(left_over_.begin(), left_over_.end(), end);
}

// ---- a call ----------------------------------------------------------------------------------------------------

learner::turn learner::begin(const call_size& call, bool is_linked) {
  ++calls_;
  linked_ = is_linked;
  if (calls_ == 1 && (is_linked || job_.knows_before())) begin_agreed(call);
  if (calls_ == vote_ends_ && !is_revoked(comm_)) {
    const payment paying(*this);
    if (end_vote(hear_vote())) judge();
  }
  if (is_young(call)) return {.size = call};
  field& f = field_of(call);
  return {&f, f.of.next(), call};
}

bool learner::is_young(const call_size& call) const {
  return stage_ == stage::cold && calls_ <= young_calls && !is_large(call.form, load_of(call));
}

void learner::end(const turn& of, double seconds) {
  job_.books().called(seconds);
  if (!of.in) return young_[of.size.form].add(static_cast<std::int64_t>(load_of(of.size)), seconds);
  field& f = *of.in;
  last_turn_ = of;
  f.loads += f.load;
  if (of.candidate == contest::native && state_) state_->last = nullptr;
  ++f.calls[of.candidate];
  if (of.candidate == contest::native && job_.set().report != reporting::none)
    f.bytes += static_cast<std::int64_t>(f.load);
  f.seconds[of.candidate] += seconds;
  f.of.took(seconds);
  if (f.of.is_due()) review(f);
}

learner::field& learner::field_of(const call_size& call) {
  if (call.form != call_form::equal) return field_of_sizes(call);
  const auto key = static_cast<std::uint64_t>(std::bit_width(static_cast<std::uint64_t>(call.bytes)));
  if (last_ && key == last_key_) return *last_;
  const auto it = equal_.find(key);
  last_key_ = key;
  return *(last_ = it != equal_.end() ? &it->second : &new_field(equal_, key, call.form, load_of(call)));
}

// Bytes that this rank sends.
double learner::load_of(const call_size& call) const {
  return static_cast<double>(call.bytes) * (call.form == call_form::equal ? ranks_ : 1);
}

// No rank knows the sizes of the others, but all know the number of the call.
learner::field& learner::field_of_sizes(const call_size& call) {
  const double load = load_of(call);
  const std::uint64_t key = sizes_.place_of_next(load) * call_forms.size() + static_cast<std::uint64_t>(call.form);
  const auto it = varying_.find(key);
  field& f = it != varying_.end() ? it->second : new_field(varying_, key, call.form, load);
  f.load = load;
  return f;
}

learner::field& learner::new_field(std::map<std::uint64_t, field>& among, std::uint64_t key, call_form form,
                                   double load) {
  field& f = among[key];
  if (stage_ != stage::served) f.of.wait_first(cold_calls(form, load, ranks_, calls_ - 1));
  if (equal_.size() + varying_.size() == 1) f.young = calls_ - 1;
  f.load = load;
  f.shape = {form, ranks_, state_ ? state_->all().where().nodes->nodes() : 1, size_class(load, ranks_)};
  if (stage_ == stage::served) open_candidates(f);
  return f;
}

// ---- what the ranks agree on -----------------------------------------------------------------------------------

std::vector<std::int64_t> learner::terms(field* f) {
  const settings& set = job_.set();
  const job_facts& here = job_.facts();
  std::vector<std::int64_t> mine(all_terms, none);
  say_same(mine, settings_most, hash_of(set.canonical()));
  say_same(mine, profile_most, hash_of(set.canonical_profile()));
  say_same(mine, node_most, here.node);
  say_same(mine, domain_most, here.domain);
  say_same(mine, in_wisdom_most, job_.wisdom_hash());
  mine[unusable] = !job_.problem().empty();
  mine[unknowing] = !job_.knows_before();
  mine[full] = job_.is_full();
  mine[devices] = here.devices;
  mine[few_cores] = -here.cores;
  mine[crowding] = own_crowding();
  mine[agreed_most] = last_agreement();
  mine[agreed_least] = negative(mine[agreed_most]);
  mine[unlisted] = job_.has_threads() || job_.served().is_full();
  mine[unmapped] = offered_.error();
  mine[unreadable] = offered_.is_unreadable();
  say_books(std::span(mine).subspan(little_allowance, 2));
  sizes_.write(std::span(mine).subspan(no_pattern, size_pattern::longest));
  mine[of_contest + contest::most_candidates] = load_ > 0 ? std::llround(4 * std::log2(load_)) : 0;
  if (!f) return mine;
  mine[hoped_gain] = nanoseconds_of(hope_of(*f));
  if (const auto learnt = job_.known().find(f->shape); learnt && learnt->best())
    mine[guess] = half_of(hash_of(learnt->best()->first));
  f->of.write(std::span(mine).subspan(of_contest, contest::terms), f->load);
  return mine;
}

// What the ledger would allow had this rank paid nothing since all heard of it, and what it paid.
void learner::say_books(std::span<std::int64_t> mine) {
  told_paid_ += std::exchange(paid_, 0);
  mine[0] = -nanoseconds_of(job_.books().allowance() + told_paid_);
  mine[1] = -nanoseconds_of(told_paid_);
}

double learner::allowance(std::span<const std::int64_t> all) {
  return -seconds_of(all[little_allowance]) + seconds_of(all[paid_least]);
}

std::int64_t learner::own_crowding() const {
  return std::max(ranks_, job_.facts().ranks_here) / std::max(1, job_.facts().cores);
}

// Of ranks that are all served by Shoal, and in the same call: the largest numbers.
std::vector<std::int64_t> learner::agree(std::vector<std::int64_t> mine) {
  const double begin = PMPI_Wtime();
  if (state_ && state_->all().memory().has_all_ranks()) {
    const std::scoped_lock alone(state_->all().lock());
    mine = state_->all().largest(mine);
    agreed_in_ = PMPI_Wtime() - begin;
    return mine;
  }
  pending_agreement said(comm_, std::move(mine));
  const std::span<const std::int64_t> all = said.wait(wait_);
  job_.books().agreed_in(agreed_in_ = PMPI_Wtime() - begin);
  return {all.begin(), all.end()};
}

// What this rank waited for the last agreement.
std::int64_t learner::last_agreement() const {
  const double seconds = agreed_in_ > 0 ? agreed_in_ : job_.books().agreement();
  return seconds > 0 ? nanoseconds_of(seconds) : none;
}

void learner::hear_of_agreements(std::int64_t least, std::int64_t most) {
  if (least != none) agreement_ = -seconds_of(least);
  if (most != none) longest_agreement_ = seconds_of(most);
}

// A field's calls are to be compared. The first time this is the vote as well.
void learner::review(field& f) {
  const bool alone = ranks_ == 1 || stage_ == stage::never || stage_ == stage::voting;
  if (alone || is_revoked(comm_)) return f.of.postpone();
  const payment paying(*this);
  const bool served = stage_ == stage::cold && job_.served().contain(comm_);
  if (stage_ == stage::cold && !served) return may_vote() ? begin_vote(&f) : f.of.postpone();
  const std::vector<std::int64_t> all = agree(terms(&f));
  if (served) know(all);
  if (offered_.is_mapped()) take_memory(all[unmapped], all[unreadable]);
  hear(f, all);
  if (stage_ == stage::known && pays(all)) set_up(all);
  else share_more(all);
  look_again(f, all);
}

// The same on every rank.
void learner::hear(field& f, std::span<const std::int64_t> all) {
  hear_of_agreements(all[agreed_least], all[agreed_most]);
  f.of.agreements_take(agreement_);
  f.of.agreed(all.subspan(of_contest, contest::terms), allowance(all));
  native_call_ = f.of.of(contest::native).mean;
  job_.books().settle(f.of.excess());
  job_.books().spend(-seconds_of(all[paid_least]) - std::exchange(told_paid_, 0));
  f.guess = all[guess];
  learn_from(f);
  if (!specs_.empty()) state_->settle(f.shape.form, f.shape.size, &f.decisions[f.of.best()]);
  if (f.shape.form == call_form::equal) return;
  f.shape.size = size_class(std::exp2(static_cast<double>(all[of_contest + contest::most_candidates]) / 4), ranks_);
  f.of.set_scattered(!sizes_.agreed(all.subspan(no_pattern, size_pattern::longest)));
}

// ---- becoming served -------------------------------------------------------------------------------------------

// A vote hardly ever takes longer where every rank has a core; where they share cores others run while this one waits. What
// goes on beside other exchanges slows them down.
constexpr double usual_vote = 2e-3, time_slice = 4e-3, longest_vote = 20e-3;
// After this many that some rank took no part in nobody tries again.
constexpr int most_votes = 4;

bool learner::may_vote() {
  const bool apart = !linked_ && !is_of_one_world(comm_);
  if (!apart && !some_gave_up()) return true;
  stage_ = stage::never;
  why_ = apart ? started_apart : "some ranks have SHOAL_ variables that others have not";
  return false;
}

// A rank that is not served by Shoal never votes, and then no rank hears all; nobody waits for it. Where little is sent some
// ranks may be many calls ahead of others: so after a vote that failed the next is open for half as many calls as there were.
void learner::begin_vote(field* f) {
  asked_by_ = f;
  vote_ = std::make_unique<pending_agreement>(comm_, terms(f));
  if (f && failed_votes_ == 0) {
    const auto crowding = static_cast<double>(own_crowding());
    wait_for_vote(crowding > 1 ? std::min(longest_vote, time_slice * crowding) : usual_vote);
  }
  vote_ends_ = calls_ + 1 + (failed_votes_ > 0 ? calls_ / 2 : 0);
  stage_ = stage::voting;
}

// What is known from earlier votes that failed, and have ended since: whether all ranks cast theirs, and will cast more.
bool learner::has_ended(std::int64_t and_some_gave_up) const {
  return std::any_of(left_over_.begin(), left_over_.end(), [=](const auto& vote) {
    return vote->largest().size() == all_second_terms && vote->test() && vote->largest()[gives_up] == and_some_gave_up;
  });
}
bool learner::all_vote() const { return has_ended(0); }
bool learner::some_gave_up() const { return has_ended(1); }

bool learner::hear_vote() {
  return vote_->test() || wait_for_vote(all_vote() ? patience : std::min(usual_vote, job_.books().allowance() / 2));
}

bool learner::wait_for_vote(double seconds) {
  const double begin = PMPI_Wtime();
  const bool heard = vote_->wait_for(seconds, wait_);
  job_.books().agreed_in(agreed_in_ = PMPI_Wtime() - begin);
  return heard;
}

// Whether every rank heard all: those that did find it out by a second vote, which ranks that did not cast too.
bool learner::end_vote(bool heard_all) {
  vote_ends_ = -1;
  if (heard_all) agreed_.assign(vote_->largest().begin(), vote_->largest().end());
  else left_over_.push_back(std::move(vote_));
  std::vector<std::int64_t> mine(all_second_terms, none);
  const bool may_share = heard_all && asked_by_ && shares_now(agreed_) && !agreements_are_too_long();
  if (rank_ == 0 && may_share) offered_.make(room_for(agreed_, ranks_), ranks_, std::span(mine).subspan(of_memory));
  mine[unheard] = !heard_all;
  mine[gives_up] = !asked_by_;
  mine[heard_most] = last_agreement();
  mine[heard_least] = negative(mine[heard_most]);
  say_books(std::span(mine).subspan(left_least, 2));
  vote_ = std::make_unique<pending_agreement>(comm_, std::move(mine));
  if (heard_all && vote_->wait(wait_)[unheard] == 0) return true;
  offered_.drop();
  left_over_.push_back(std::move(vote_));
  stage_ = ++failed_votes_ < most_votes ? stage::cold : stage::never;
  if (stage_ == stage::never) why_ = "ranks were too far apart to agree, or some of them have no Shoal";
  if (asked_by_) asked_by_->of.postpone();
  return false;
}

// Whether the two that set-up takes would cost more than the ledger allows. By what this rank has seen, and of use to the
// first rank alone: the others have not told it yet how long they waited, and it would make memory for nothing.
bool learner::agreements_are_too_long() const { return 2 * agreed_in_ > allowance(agreed_); }

// Without a vote, for ranks that have cast it on another communicator.
void learner::know(std::span<const std::int64_t> all) {
  stage_ = stage::known;
  agreed_.assign(all.begin(), all.end());
  hear_of_agreements(agreed_[agreed_least], agreed_[agreed_most]);
}

void learner::judge() {
  stage_ = stage::known;
  if (const std::string wrong = wrong_settings(agreed_); !wrong.empty()) return refuse(wrong, true);
  agreed_[agreed_least] = std::max(agreed_[agreed_least], vote_->largest()[heard_least]);
  agreed_[agreed_most] = vote_->largest()[heard_most];
  agreed_[little_allowance] = vote_->largest()[left_least];  // other communicators may have spent since the first
  agreed_[paid_least] = vote_->largest()[paid_till_then];
  hear_of_agreements(agreed_[agreed_least], agreed_[agreed_most]);
  if (!agreed_[unlisted]) job_.served().add(comm_);
  if (!asked_by_) return;
  hear(*asked_by_, agreed_);
  const auto memory = vote_->largest().subspan(of_memory);
  if (offered_memory::is_made(memory) && shares_now(agreed_))
    offered_.map(room_for(agreed_, ranks_), ranks_, rank_ == 0, memory);
  else offered_.drop();
  if (!offered_.is_mapped() && pays(agreed_)) set_up(agreed_);
  look_again(*asked_by_, agreed_);
}

// After the next call where all have mapped memory, or else when what is not made yet may pay.
void learner::look_again(field& f, std::span<const std::int64_t> all) {
  if (offered_.is_mapped()) return f.of.hasten();
  const double hope = seconds_of(all[hoped_gain]), cost = set_up_cost(all), calls = static_cast<double>(f.of.calls());
  if (stage_ == stage::known && cost > hope && hope > 0)
    f.of.agree_within(static_cast<int>(std::clamp(calls * (cost / hope - 1), calls / 4, 1e6)));
}

// Whether the second vote offers memory, and whether it is taken, when it has told how long agreements take. That saves an
// agreement. Where ranks share cores the memory may turn out to be made for nothing, at a multiple of its price.
bool learner::shares_now(std::span<const std::int64_t> all) const {
  return ranks_of_a_core(all) == 1 && wrong_settings(all).empty() && on_one_node(all) && pays(all);
}

std::string learner::wrong_settings(std::span<const std::int64_t> all) const {
  return job_.wrong_settings(all[settings_most], all[settings_least], all[unusable] != 0);
}

void learner::refuse(const std::string& why, bool wrong, int ranks) {
  stage_ = stage::never;
  why_ = why;
  wrong_ = wrong;
  if (!wrong) warn_once(why, use_native, ranks);
}

bool learner::on_one_node(std::span<const std::int64_t> all) const {
  const auto& layout = job_.set().layout;
  if (layout && layout->ranks() == ranks_) return layout->nodes().nodes() == 1;
  return same(all, node_most) && same(all, domain_most);
}

// A few agreements; inside one node memory to touch besides, while the others wait on the same cores where these are too
// few. Between nodes collectives of the MPI's own that block: one takes no longer than an agreement with its waiting, and
// about as long as a call.
double learner::set_up_cost(std::span<const std::int64_t> all) const {
  if (!on_one_node(all)) return 8 * std::min(longest_agreement_, native_call_) + 300e-6;
  const double memory = offered_memory::usual_time(room_for(all, ranks_), ranks_);
  return 2 * agreement_ + memory * static_cast<double>(ranks_of_a_core(all));
}

// What may be gained if as many calls come as there were: what such exchanges gained elsewhere in the job, or else a quarter
// of what they take once the MPI is warm.
double learner::hope_of(const field& f) const {
  const auto known = job_.known().find(f.shape);
  if (!known || known->specs.size() < 2 || !known->specs.contains("native")) return native_seconds() / 4;
  const double gain = known->specs.at("native").seconds - known->best()->second.seconds;
  return static_cast<double>(f.of.calls()) * gain;
}

double learner::native_seconds() const {
  double sum = 0;
  for (const auto* fields : {&equal_, &varying_})
    for (const auto& [key, f] : *fields) sum += f.of.native_seconds();
  return sum;
}

// What is made is of use where trials can be paid besides: of one candidate in a node, of several between nodes.
bool learner::pays(std::span<const std::int64_t> all) const {
  const double cost = set_up_cost(all), trials = (on_one_node(all) ? 2 : 8) * native_call_;
  const bool none_left = all[full] && !on_one_node(all);  // communicators, of which there exchanges need one
  return !all[devices] && !none_left && cost + trials <= allowance(all) && cost <= seconds_of(all[hoped_gain]);
}

void learner::set_up(std::span<const std::int64_t> all) {
  if (all.data() != agreed_.data()) agreed_.assign(all.begin(), all.end());
  if (on_one_node(agreed_)) return share(room_for(agreed_, ranks_));
  make_state();
  serve();
}

// In a program that calls Shoal all ranks have it, and they agree on settings at once; so they do where a profile or wisdom
// may tell what to begin with.
void learner::begin_agreed(const call_size& call) {
  const bool known_alike = !linked_ && job_.knowing().contain(comm_), may_gain = job_.may_gain(call.form, ranks_);
  if (known_alike && !may_gain) return;
  const payment paying(*this);
  load_ = load_of(call);
  if (known_alike) know(agree(terms(nullptr)));
  else vote_at_once();
  load_ = 0;
  if (stage_ != stage::known || !job_.knows_before()) return;
  if (agreed_[unknowing]) return warn_once(differing_profiles, "none is used");
  knows_ = same(agreed_, in_wisdom_most);
  const bool alike = knows_ && same(agreed_, profile_most);
  if (alike && !agreed_[unlisted]) job_.knowing().add(comm_);
  if (!alike || linked_ || may_gain) begin_as_known(call);
}

// With what a profile or an earlier job tells of such exchanges.
void learner::begin_as_known(const call_size& call) {
  if (!enter(linked_)) return;
  load_ = std::exp2(static_cast<double>(agreed_[of_contest + contest::most_candidates]) / 4);
  field first;
  first.load = call.form == call_form::equal ? load_of(call) : load_;
  first.shape = {call.form, ranks_, state_->all().where().nodes->nodes(), size_class(first.load, ranks_)};
  if (agreed_[devices] || !expected(first)) return;
  set_up(agreed_);
  if (!offered_.is_mapped()) return;
  const std::vector<std::int64_t> all = agree({offered_.error(), offered_.is_unreadable()});
  take_memory(all[0], all[1]);
}

// What is expected of exchanges of a size that all ranks know, where it is worth setting up.
std::optional<knowledge::of_shape> learner::expected(const field& f) const {
  if (!knows_) return std::nullopt;
  const bool equal = f.shape.form == call_form::equal;  // what a profile knows nothing of are types
  if (const auto& from = state_->followed(); from && f.shape.form != call_form::any_types && from->kinds[equal])
    return from->kinds[equal]->expected({f.load / ranks_, 1}, ranks_);
  const auto known = job_.earlier().find(f.shape);
  if (!known || !known->specs.contains("native")) return std::nullopt;
  const double native = known->specs.at("native").seconds;
  const double gain = known->calls_each() * (native - known->best()->second.seconds);
  return gain > set_up_cost(agreed_) ? known : std::nullopt;
}

void learner::apply(const knowledge::of_shape& known, field& f) {
  int best = contest::native;
  for (const auto& [spec, entry] : known.specs) {
    const int candidate = propose(spec);
    if (candidate < 0) continue;
    f.of.assume(candidate, entry.seconds);
    if (f.of.of(candidate).mean < f.of.of(best).mean || !f.of.of(best).mean) best = candidate;
  }
  f.of.prefer(best);
}

// Its number among the candidates; negative where there are too many.
int learner::propose(const std::string& spec) {
  auto it = std::find(specs_.begin(), specs_.end(), spec);
  if (it == specs_.end() && specs_.size() < contest::most_candidates) it = specs_.insert(it, spec);
  return it == specs_.end() ? -1 : static_cast<int>(it - specs_.begin());
}

// On more levels than the nodes: how the model would use them for exchanges of this size.
void learner::propose_levels(const field& f) {
  const layout_tree* const levels = state_->all().where().levels.get();
  const bool equal = f.shape.form == call_form::equal;
  const std::int64_t quarters = agreed_[of_contest + contest::most_candidates];  // what ranks send at most
  const bool all_know = equal || quarters > 0;
  if (!levels || levels->levels() <= 2 || f.shape.nodes == 1 || !all_know) return;
  const double load = equal ? f.load : std::exp2(static_cast<double>(quarters) / 4);
  propose(best_levels(*levels, load / ranks_, common_machine).spec);
}

// The first rank gives the others memory.
void learner::share(std::size_t most) {
  std::vector<std::int64_t> said(offered_memory::terms, none);
  if (rank_ == 0) offered_.make(most, ranks_, said);
  offered_.map(most, ranks_, rank_ == 0, agree(std::move(said)));
}

// All have mapped it, or nobody has it: the largest of the ranks' errors tells.
void learner::take_memory(std::int64_t error, bool unreadable) {
  node_exchange::mapped memory = offered_.take(error, unreadable);
  make_state();
  if (error == 0) state_->all().memory().take(std::move(memory));
  if (stage_ == stage::known) serve();
}

// Larger exchanges get more, where the ledger allows it and one memory is all ranks' already.
void learner::share_more(std::span<const std::int64_t> all) {
  if (offered_.shared_for() == 0 || room_for(all, ranks_) <= offered_.shared_for() || !pays(all)) return;
  share(room_for(all, ranks_));
}

void learner::make_state() {
  if (state_) return;
  settings set = job_.set();
  constexpr const char* instead = "it is not used";
  if (!set.profile_fault.empty()) warn_once(set.profile_fault, instead);
  if (!same(agreed_, profile_most)) {
    warn_once(differing_profiles, instead);
    set.profile = nullptr;
  }
  std::vector<layout_tree::shared_ids> shared{{"node", std::vector<int>(static_cast<std::size_t>(ranks_), 0)}};
  if (!on_one_node(agreed_) || set.finds_levels) shared = places_of_ranks(comm_, job_.facts(), set.finds_levels, wait_);
  common_facts found{place_ranks(comm_, set, std::move(shared), wait_), -static_cast<int>(agreed_[few_cores]),
                     agreed_[devices] > 0};
  state_ = std::make_shared<communicator>(comm_, set, std::move(found), wait_.mode());
}

// What may serve from now on.
void learner::serve() {
  if (state_->all().where().nodes->nodes() > 1 && !state_->all().is_open()) open_state();
  if (!state_) return;
  stage_ = stage::served;
  specs_ = {"native"};
  const node_layout& nodes = *state_->all().where().nodes;
  if (nodes.nodes() == 1) {
    if (state_->all().memory().has_all_ranks()) specs_.emplace_back("shared");
  } else {
    if (nodes.largest_node() > 1) specs_.insert(specs_.end(), {"hierarchical:local=shared"});
    specs_.insert(specs_.end(), {"spread_out", "tuna:radix=2"});
    if (ranks_ >= 16) specs_.push_back("tuna:radix=" + std::to_string(std::lround(std::sqrt(ranks_))));
  }
  for (auto* fields : {&equal_, &varying_})
    for (auto& [key, f] : *fields) open_candidates(f);
}

void learner::open_candidates(field& f) {
  f.shape.nodes = state_->all().where().nodes->nodes();
  if (f.shape.form != call_form::equal && load_ > 0) f.shape.size = size_class(f.load = load_, ranks_);
  if (const auto known = f.of.calls() == 0 ? expected(f) : std::nullopt) apply(*known, f);
  propose_levels(f);
  for (std::size_t i = 0; i < specs_.size(); ++i) {
    f.decisions[i] = {&state_->algorithms().get(parse_selection(specs_[i])), "settled on the program's own exchanges"};
    f.of.open(static_cast<int>(i), half_of(hash_of(specs_[i])) == f.guess);
  }
}

// ---- at once, for what is asked for ----------------------------------------------------------------------------

void learner::vote_at_once() {
  if (stage_ == stage::cold && !may_vote()) return warn_once(why_);
  if (stage_ == stage::cold) begin_vote(nullptr);
  if (stage_ != stage::voting) return;
  if (end_vote(wait_for_vote(patience))) judge();
  else
    refuse(
        "other ranks took no part in an agreement on settings for 10 s; preload Shoal on all ranks, and set the "
        "SHOAL_ variables the same",
        false, some_ranks);
}

communicator* learner::enter(bool is_linked) {
  linked_ |= is_linked;
  vote_at_once();
  if (stage_ == stage::known) enter_known();
  if (state_ && !state_->all().is_open()) open_state();
  return wrong_ || !state_ ? nullptr : state_.get();
}

// Throws nothing: what does not fit these ranks is told, and the MPI's own serves.
void learner::enter_known() {
  if (agreed_[full]) {  // no fault, so only the report tells
    stage_ = stage::never;
    why_ = "more than " + std::to_string(job_state::most_communicators) + " communicators in use";
    return;
  }
  try {
    make_state();
  } catch (const std::invalid_argument& error) {
    refuse(error.what(), true);
  }
}

void learner::open_state() {
  if (state_->all().open()) return job_.count_open(1);
  state_.reset();
  refuse("the MPI library has no communicator left for Shoal", false);
}

bool learner::is_asked(call_form form, MPI_Info info) const {
  if (stage_ == stage::never && !state_) return wrong_;
  return info != MPI_INFO_NULL || job_.asks_at_once(form) || (state_ && state_->asked().standing(form));
}

// ---- what was learnt -------------------------------------------------------------------------------------------

void learner::learn_from(const field& f) const {
  for (std::size_t i = 0; i < specs_.size(); ++i)
    if (const contest::record& r = f.of.of(static_cast<int>(i)); r.all_calls > 2)
      job_.known().add(f.shape, specs_[i], r.mean, r.calls);
}

std::string learner::explain() const {
  const bool is_settled = last_turn_.in && (!state_ || !state_->last || state_->last == &last_turn_.chosen());
  if (state_ && state_->last && !is_settled) return state_->last->how->spec + ": " + state_->last->reason;
  if (!is_settled && !why_.empty()) return "the MPI library's own collective: " + why_;
  if (!is_settled && calls_ > 0) return "native: after " + std::to_string(calls_) + " calls";
  if (!is_settled) return "nothing was exchanged on this communicator yet";
  const field& f = *last_turn_.in;
  const std::string spec = last_turn_.candidate == contest::native ? "native" : specs_[last_turn_.candidate];
  return spec + ": " + told(f);
}

// What was tried, in one line.
std::string learner::told(const field& f) const {
  std::string text = "after " + std::to_string(f.young + f.of.calls()) + " calls";
  for (std::size_t i = 0; i < std::max<std::size_t>(1, specs_.size()); ++i) {
    const contest::record& r = f.of.of(static_cast<int>(i));
    char part[96];
    std::snprintf(part, sizeof part, " %.1f us in %d calls", r.mean * 1e6, r.all_calls);
    text += (i ? ", " : ": ") + (i ? specs_[i] : std::string("native")) + (r.all_calls ? part : " not tried") +
            (r.dropped                            ? " (dropped: slower)"
             : static_cast<int>(i) == f.of.best() ? " (kept)"
                                                  : "");
  }
  return text;
}

std::vector<learner::lesson> learner::lessons() const {
  std::vector<lesson> all;
  for (const call_form form : call_forms)
    if (young_[form].calls > 0) all.push_back({form, young_[form], 0, ""});
  for (const auto* fields : {&equal_, &varying_})
    for (const auto& [key, f] : *fields)
      all.push_back({f.shape.form,
                     {f.calls[0], f.bytes, f.seconds[0]},
                     f.loads / static_cast<double>(std::max<std::int64_t>(1, f.of.calls())) / ranks_,
                     specs_.size() > 1 ? told(f) : std::string()});
  return all;
}

void learner::keep_lessons() const {
  for (const call_form form : call_forms)
    if (const usage& of = young_[form]; of.calls > 0 && equal_.empty() && varying_.empty()) {
      const auto calls = static_cast<double>(of.calls);
      const int size = size_class(static_cast<double>(of.bytes) / calls, ranks_);
      job_.known().add_communicators({form, ranks_, 1, size}, 1, calls);
    }
  for (const auto* fields : {&equal_, &varying_})
    for (const auto& [key, f] : *fields)
      if (f.of.calls() > 0) job_.known().add_communicators(f.shape, 1, static_cast<double>(f.young + f.of.calls()));
}

}  // namespace shoal
