#include "learn/group_learner.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "learn/voting.hpp"
#include "team/errors.hpp"
#include "team/own_communicator.hpp"
#include "team/pending_agreement.hpp"
#include "team/progress.hpp"
#include "team/served_groups.hpp"
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
std::vector<std::int64_t> largest_of_both(MPI_Comm groups, const std::vector<std::int64_t>& mine, waiting& wait) {
  pending_agreement other(groups, mine);
  const bool is_heard = other.wait_for(voting::patience, wait);
  std::vector<std::int64_t> all = mine;
  if (is_heard) all.assign(other.largest().begin(), other.largest().end());
  all.push_back(!is_heard);
  pending_agreement own(groups, all);
  if (is_heard) {
    const auto mine = own.wait(wait);
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = std::max(mine[i], all[i]);
  }
  pending_agreement unheard(groups, {all.back()});
  if (is_heard) {
    const bool by_none = all.back() == 0 && unheard.wait(wait)[0] == 0;
    return by_none ? all : std::vector<std::int64_t>();
  }
  for (pending_agreement* one : {&other, &own, &unheard}) one->abandon();
  return {};
}

}  // namespace

group_learner::group_learner(job_state& job, MPI_Comm comm) : job_(job), comm_(comm), ranks_(ranks_of_both(comm)) {}

void group_learner::forget_last() {
  may_pass_ = 0;
  if (state_) state_->forget_last();
}

bool group_learner::may_serve() {
  if (!is_undecided_) return true;
  if (!worth_.is_due()) return false;
  if (job_.some_may_lack_shoal(comm_)) return worth_.never_again(), false;
  if (!pays()) return false;
  const double begin = PMPI_Wtime();
  serve();
  job_.books().spend(PMPI_Wtime() - begin);
  return true;
}

// Nobody asked for this, so if ranks do not hear each other, the user is not told.
bool group_learner::pays() {
  const double begin = PMPI_Wtime();
  job_.books().called(worth_.end_passed());
  const auto said = worth_.said(job_.books().allowance());
  const auto all = largest_of_all({said.begin(), said.end()});
  const double seconds = PMPI_Wtime() - begin;
  worth_.took(seconds);
  job_.books().spend(std::min(seconds, group_investment::longest_look));
  if (all.empty()) {
    worth_.was_unheard();
    why_ = "ranks of the other group did not answer within 10 s, or lack Shoal";
  }
  return !all.empty() && worth_.pays(all);
}

// None, on every rank, if some ranks heard nothing of others.
std::vector<std::int64_t> group_learner::largest_of_all(const std::vector<std::int64_t>& mine) const {
  waiting wait = moving_meanwhile(job_.set().wait.value_or(wait_mode::yield));
  return largest_of_both(comm_, mine, wait);
}

void group_learner::count_unserved(bool uniform, std::int64_t sent, std::int64_t known, double seconds) {
  unserved_[uniform].add(sent, seconds);
  worth_.count(known * ranks_ / 2, seconds);
  may_pass_ = worth_.untimed_left();
}

int group_learner::take_passes() {
  const int may_pass = state_ ? state_->untimed_left() : std::exchange(may_pass_, 0);
  return job_.is_watched() ? 0 : may_pass;
}

void group_learner::have_passed(int calls) {
  if (state_) state_->have_passed(calls);
  else job_.books().called(worth_.have_passed(calls));
}

void group_learner::take_back_passed() {
  if (state_) state_->take_back_passed();
  else worth_.take_back();
}

intercommunicator* group_learner::enter(bool is_linked, std::string& wrong) {
  const char* const lacking = is_undecided_ && !is_linked ? job_.some_may_lack_shoal(comm_) : nullptr;
  if (lacking) {
    is_undecided_ = false;
    warn_once(comm_, why_ = lacking);
  }
  if (is_undecided_) serve();
  if (is_wrong_) wrong = why_;
  return state_.get();
}

void group_learner::serve() {
  is_undecided_ = false;
  const auto hash = static_cast<std::int64_t>(hash_of(job_.set().canonical()) >> 1);
  const std::vector<std::int64_t> all = largest_of_all({hash, -hash, !job_.problem().empty(), job_.is_full()});
  if (all.empty()) {
    why_ =
        "ranks of the other group did not answer within 10 s when ranks compared settings; preload Shoal on all "
        "ranks, and give all ranks the same SHOAL_ variables";
    return warn_once(comm_, why_);
  }
  why_ = job_.wrong_settings(all[0] == -all[1], all[2] != 0);
  is_wrong_ = !why_.empty();
  if (!is_wrong_ && all[3]) why_ = "too many communicators are in use; free some";
  if (why_.empty()) make_state();
}

void group_learner::make_state() {
  const MPI_Comm own = merged(comm_);
  if (own == MPI_COMM_NULL) return void(why_ = "the MPI library has no communicator left for Shoal");
  try {
    state_ = std::make_shared<intercommunicator>(job_, comm_, own, job_.set());
    job_.count_open(1);
  } catch (const std::invalid_argument& error) {
    why_ = error.what();
    is_wrong_ = true;
  }
}

void group_learner::stop(const char* why) {
  if (!is_undecided_) return;
  is_undecided_ = false;
  why_ = why;
}

std::string group_learner::explain() const {
  const auto* const last = state_ ? state_->last : nullptr;
  return last ? last->algorithm->spec + ": " + last->reason : "the MPI library's own collective: " + why_;
}

}  // namespace shoal
