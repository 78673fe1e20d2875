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

  // `wait` must outlive the vote.
  vote(MPI_Comm comm, waiting& wait) : comm_(comm), wait_(&wait) {}
  ~vote() { leave(); }
  vote(const vote&) = delete;
  vote& operator=(const vote&) = delete;

  // Begins the first round, in a call that has the same number on all ranks.
  void begin(std::vector<std::int64_t> mine, std::int64_t call);
  // look() is to be called in every call while the vote lasts. apart(): how far apart the ranks were in the first
  // round, in seconds, at most; missing(): at least. age(): seconds since this rank began the round.
  void look() { round_->look(); }
  double apart() const { return apart_; }
  double missing() const { return round_->missing(); }
  double age() const { return round_->age(); }
  // Whether the round ends with this call.
  bool ends_at(std::int64_t call) const { return call == last_call_; }
  // wait_for() waits for the first round, for this number of seconds at most, and returns whether the numbers of all
  // ranks are here; heard() then returns the largest of each.
  bool wait_for(double seconds);
  std::span<const std::int64_t> heard() const { return heard_; }
  // Begins the second round, in the call in which the first ends. `gives_up`: this rank begins no further vote if not
  // all ranks have heard all. The second round ends in this call too, or later if a vote has failed before.
  void confirm(bool has_heard_all, bool gives_up, std::span<const std::int64_t> mine, std::int64_t call);
  bool is_confirming() const { return is_confirming_; }
  // Ends the second round, and returns whether every rank has heard all.
  bool end();
  // What the ranks have said in the second round: the largest of each number.
  std::span<const std::int64_t> confirmed() const;

  // Looks at the last vote, which failed, and returns whether it has ended on all ranks. Others may wait for that, and
  // get on only while this rank looks. stop_looking(): this rank does not look any more.
  bool look_back() { return second_left_.back()->test(); }
  void stop_looking();

  // Leaves all that is under way to the MPI. Returns whether it has ended already.
  bool let_go();
  // Ends all that is under way. A round in which some rank never takes part cannot end: it is abandoned.
  void leave();

  bool has_failed() const { return failed_ > 0; }
  bool has_failed_for_good() const { return failed_ >= most; }
  // Whether an earlier vote that failed has ended since, because all ranks took part in it after all; and whether all
  // of them go on voting, or some have given up.
  bool all_take_part() const { return has_ended(0); }
  bool some_gave_up() const { return has_ended(1); }

 private:
  void stop_asking();
  bool has_ended(std::int64_t and_some_gave_up) const;

  MPI_Comm comm_;
  waiting* wait_;
  std::unique_ptr<pending_agreement> round_;
  std::vector<std::unique_ptr<pending_agreement>> first_left_, second_left_;  // rounds of votes that failed
  std::vector<std::int64_t> heard_;
  std::int64_t first_call_ = -1, last_call_ = -1;  // of the round under way, the first is that of the first round
  double apart_ = 0;
  bool is_confirming_ = false, has_heard_all_ = false, gives_up_ = false;
  int failed_ = 0;
};

}  // namespace shoal
