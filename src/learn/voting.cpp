#include "learn/voting.hpp"

#include <algorithm>
#include <utility>

#include "team/errors.hpp"

namespace shoal {

using stage = standing::stage;

namespace {

// Seconds. If every rank has a core, a vote hardly ever takes longer than `usual_vote`. If ranks share cores, they wait
// longer, up to `longest_vote`, since others run while a rank waits. Waiting is worth it, because a vote that goes on
// beside other exchanges slows them down. But if a rank is ahead of others, its waiting may make all of them late.
constexpr double usual_vote = 2e-3, longest_vote = 20e-3;

// Seconds after which each rank had a core for a while.
double longest_lag(double ranks_of_a_core) {
  return std::max(longest_vote, 2 * agreements::time_slice * ranks_of_a_core);
}

}  // namespace

bool voting::may_begin(bool is_linked) {
  if (const char* const lacking = is_linked ? nullptr : job_.some_may_lack_shoal(comm_)) {
    stands_.why = lacking;
    if (job_.parts().some_nodes_lack_preload) warn_once(comm_, lacking);
  } else if (vote_.some_gave_up()) stands_.why = "some ranks have SHOAL_ variables that others do not have";
  else return true;
  stands_.now = stage::never;
  return false;
}

void voting::begin(exchange_field* wanted_by, std::vector<std::int64_t> mine, std::int64_t call) {
  wanted_by_ = wanted_by;
  if (!job_.has_threads()) seen_.emplace(job_.served(), comm_);  // only then ranks know the order of their calls
  vote_.begin(std::move(mine), call);
  if (wanted_by && !vote_.has_failed()) {
    const double longest =
        wanted_by->may_be_ahead ? std::min(agreements::time_slice, job_.books().allowance()) : longest_vote;
    wait_for(crowding() > 1 ? std::min(longest, agreements::time_slice * crowding()) : usual_wait());
  }
  stands_.now = stage::voting;
}

double voting::crowding() const { return static_cast<double>(job_.ranks_of_a_core(ranks_)); }

// Seconds to wait for the vote. If this rank may be ahead of others, at most half of what its calls took so far.
double voting::usual_wait() const {
  return wanted_by_ && wanted_by_->may_be_ahead ? std::min(usual_vote, wanted_by_->trials.native_seconds() / 2)
                                                : usual_vote;
}

bool voting::hear() {
  bool is_heard = vote_.wait_for(0);
  if (is_heard) among_.note_wait(among_.last_wait(), vote_.apart());
  else is_heard = wait_for(longest_wait());
  if (!is_heard) return false;
  const agreed_terms all(vote_.heard());
  if (are_far_apart(all)) return false;
  stands_.agreed = all;
  return true;
}

// If so, the program would lose the time for which ranks wait for each other. On one node all ranks that have heard all
// find the same. So none of them waits for the second round in vain, and no rank that has ended its program, and whose
// MPI no longer moves that round, is waited for.
bool voting::are_far_apart(const agreed_terms& all) const {
  const double longest = longest_lag(all.ranks_of_a_core());
  return all.same_node() ? all.seconds_apart() > longest : may_run_ahead() && vote_.missing() > longest;
}

// Whether all ranks vote, and their exchange does not keep them together.
bool voting::may_run_ahead() const { return wanted_by_ && wanted_by_->may_be_ahead && vote_.all_take_part(); }

// Seconds to wait for the end of the first round.
double voting::longest_wait() const {
  if (may_run_ahead()) return longest_lag(crowding()) - vote_.age();
  return vote_.all_take_part() ? patience : std::min(usual_wait(), job_.books().allowance() / 2);
}

bool voting::look_back(bool last) {
  const bool is_done = vote_.look_back() || last;
  if (is_done) vote_.stop_looking();
  return is_done;
}

bool voting::hear_at_once(bool patiently) {
  const bool is_heard = wait_for(patiently ? patience : usual_vote);
  if (is_heard) stands_.agreed = agreed_terms(vote_.heard());
  return is_heard;
}

bool voting::wait_for(double seconds) {
  const double begin = PMPI_Wtime();
  const bool is_heard = vote_.wait_for(seconds);
  among_.note_wait(PMPI_Wtime() - begin, vote_.apart());
  return is_heard;
}

void voting::confirm(bool has_heard_all, std::span<const std::int64_t> mine, std::int64_t call) {
  vote_.confirm(has_heard_all, !wanted_by_, mine, call);
}

bool voting::end() {
  seen_.reset();
  if (vote_.end()) return true;
  stands_.now = vote_.has_failed_for_good() ? stage::never : stage::cold;
  if (stands_.now == stage::never) stands_.why = "ranks were too far apart to agree, or some of them run without Shoal";
  if (wanted_by_) wanted_by_->trials.postpone();
  return false;
}

void voting::note_end(double seconds) {
  if (wanted_by_ && wanted_by_->may_be_ahead && seconds > among_.last_wait()) among_.note_wait(seconds, vote_.apart());
}

void voting::stop() {
  if (stands_.now == stage::voting) stands_.now = stage::cold;
  seen_.reset();
}

bool voting::let_go() {
  stop();
  return vote_.let_go();
}

void voting::leave() {
  stop();
  vote_.leave();
}

}  // namespace shoal
