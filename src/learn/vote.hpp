// How the ranks of a communicator find out that Shoal serves all of them, and what they have in common.
//
// A rank without Shoal never votes, so no rank waits long for the end of a vote, and none is left waiting. A vote has
// two rounds. In the first, each rank tells its numbers, and some calls later each rank knows whether it has heard all.
// The second tells whether all ranks have heard all. If little is sent, some ranks may be many calls ahead of others,
// so a vote that failed is repeated a few times.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "team/pending_agreement.hpp"
#include "transport/waiting.hpp"

namespace shoal {

class vote {
 public:
  // After this many votes that failed no rank tries again.
  static constexpr int most = 4;
  // What a rank does after a vote that failed: it votes again, or never, because it runs far ahead of others or because
  // it has settings that others may not have.
  enum class after_failure : std::int64_t { again, runs_ahead, has_settings };

  // `wait` must outlive the vote.
  vote(MPI_Comm comm, waiting& wait) : comm_(comm), wait_(&wait) {}
  ~vote() { leave(); }
  vote(const vote&) = delete;
  vote& operator=(const vote&) = delete;

  // Begins the first round, in a call that has the same number on all ranks.
  void begin(std::vector<std::int64_t> mine, std::int64_t call);
  // look() is to be called in every call while the vote lasts. apart(): how far apart the ranks were in the first
  // round, in seconds. age(): seconds since this rank began the round.
  void look() { round_->look(); }
  double apart() const { return apart_; }
  double age() const { return round_->age(); }
  // Whether the round ends with this call.
  bool ends_at(std::int64_t call) const { return call == last_call_; }
  // wait_for() waits for the first round, for this number of seconds at most, and returns whether the numbers of all
  // ranks are here; heard() then returns the largest of each.
  bool wait_for(double seconds);
  std::span<const std::int64_t> heard() const { return heard_; }
  // Begins the second round, in the call in which the first ends. It ends in this call too, or later if a vote has
  // failed before. `next`: what this rank does if not all ranks have heard all.
  void confirm(bool has_heard_all, after_failure next, std::span<const std::int64_t> mine, std::int64_t call);
  bool is_confirming() const { return is_confirming_; }
  // Ends the second round, and returns whether every rank has heard all.
  bool end();
  // What the ranks have said in the second round: the largest of each number.
  std::span<const std::int64_t> confirmed() const;

  // Ends all that is under way. A round in which some rank never takes part cannot end: it is abandoned, and leave()
  // returns false.
  bool leave();

  bool has_failed() const { return failed_ > 0; }
  bool has_failed_for_good() const { return failed_ >= most || (has_failed() && next_ != after_failure::again); }
  // Whether an earlier vote that failed has ended since, because all ranks took part in it after all; and whether all
  // of them vote again, or some never do.
  bool all_take_part() const { return has_ended(after_failure::again); }
  bool some_run_ahead() const { return has_ended(after_failure::runs_ahead); }
  bool some_have_settings() const { return has_ended(after_failure::has_settings); }

 private:
  void stop_asking();
  bool has_ended(after_failure with) const;

  MPI_Comm comm_;
  waiting* wait_;
  std::unique_ptr<pending_agreement> round_;
  std::vector<std::unique_ptr<pending_agreement>> first_left_, second_left_;  // rounds of votes that failed
  std::vector<std::int64_t> heard_;
  std::int64_t last_call_ = -1;
  double apart_ = 0;
  bool is_confirming_ = false, has_heard_all_ = false;
  after_failure next_ = after_failure::again;
  int failed_ = 0;
};

}  // namespace shoal
