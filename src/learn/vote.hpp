// How the ranks of a communicator find out that Shoal serves all of them, and what they have in common.
//
// A rank without Shoal never votes; so nobody waits for a vote, and none is left waiting. It has two rounds. In the first
// each rank tells its numbers; some calls later each knows whether it has heard all. The second tells whether all ranks
// have. Where little is sent some ranks may be many calls ahead of others, so a vote that failed is repeated some times.
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
  // After this many that failed nobody tries again.
  static constexpr int most = 4;

  // `wait` outlives it.
  vote(MPI_Comm comm, waiting& wait) : comm_(comm), wait_(&wait) {}
  ~vote() { leave(); }
  vote(const vote&) = delete;
  vote& operator=(const vote&) = delete;

  // The first round, in a call that all ranks count alike.
  void begin(std::vector<std::int64_t> mine, std::int64_t call);
  // In every call while it lasts; and how far apart ranks were in the first round, in seconds.
  void look() { round_->look(); }
  double apart() const { return apart_; }
  // Whether it ends with this call.
  bool ends_at(std::int64_t call) const { return call == last_call_; }
  // Waits for it. Whether all ranks' numbers are here, after this number of seconds at most; and what they then are.
  bool wait_for(double seconds);
  std::span<const std::int64_t> heard() const { return heard_; }
  // The second round, in the call in which the first ends. `gives_up`: this rank begins no further vote if not all have heard
  // all. It ends in this call too, or later where a vote has failed before.
  void confirm(bool has_heard_all, bool gives_up, std::span<const std::int64_t> mine, std::int64_t call);
  bool is_confirming() const { return is_confirming_; }
  // Whether every rank has heard all.
  bool end();
  // What ranks have told in that.
  std::span<const std::int64_t> confirmed() const;

  // Ends all that is under way. A round that some rank never takes part in never ends, and is left alone: false.
  bool leave();

  bool has_failed() const { return failed_ > 0; }
  bool has_failed_for_good() const { return failed_ >= most; }
  // What is known from earlier votes that failed and have ended since: all ranks cast theirs, and will cast more, or not.
  bool all_take_part() const { return has_ended(0); }
  bool some_gave_up() const { return has_ended(1); }

 private:
  void stop_asking();
  bool has_ended(std::int64_t and_some_gave_up) const;

  MPI_Comm comm_;
  waiting* wait_;
  std::unique_ptr<pending_agreement> round_;
  std::vector<std::unique_ptr<pending_agreement>> first_left_, second_left_;  // of votes that failed
  std::vector<std::int64_t> heard_;
  std::int64_t last_call_ = -1;
  double apart_ = 0;
  bool is_confirming_ = false, has_heard_all_ = false, gives_up_ = false;
  int failed_ = 0;
};

}  // namespace shoal
