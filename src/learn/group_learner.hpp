// Learns whether Shoal should serve the allgathers on one of the user's inter-communicators. The MPI's own serves the
// first calls, and they are only counted. Then the ranks of both groups look together whether it pays to make what
// Shoal needs. Nothing is made before.
//
// What happens in which call follows from the number of the call and from what was agreed, so it is the same on every
// rank.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "learn/intercommunicator.hpp"
#include "learn/job_state.hpp"
#include "select/group_investment.hpp"
#include "team/usage.hpp"

namespace shoal {

class group_learner {
 public:
  // Creates nothing yet and does not communicate.
  group_learner(job_state& job, MPI_Comm comm);

  // To be called before every call, because the call may end before anything is known of it.
  void forget_last();
  // Whether there were enough calls, whose algorithm nobody asked for, to make what serves them. Until then the MPI's
  // own collective serves. To be called before each such call.
  bool may_serve();
  // Counts a call that the MPI's own served before that. `known`: bytes of a message from each group, together, if both
  // groups know them; else 0. Nobody may need to know what the next calls like it take: take_passes() tells how many.
  void count_unserved(bool uniform, std::int64_t sent, std::int64_t known, double seconds);
  const usage& unserved(bool uniform) const { return unserved_[uniform]; }
  // After a call: how many more calls like it Shoal need not look at; only once. have_passed() then counts those that
  // were made. take_back_passed() no longer counts the last of these.
  int take_passes();
  void have_passed(int calls);
  void take_back_passed();

  // Makes the state on first use, which is collective. Returns null, on every rank, if Shoal cannot serve these groups.
  // `wrong` then says what is wrong, or is empty if the MPI's own collective is right. `is_linked`: the program calls
  // Shoal itself, so all ranks have it.
  intercommunicator* enter(bool is_linked, std::string& wrong);
  // Open requests keep it; null: not made.
  const std::shared_ptr<intercommunicator>& state() const { return state_; }
  // From now on the MPI's own serves, unless Shoal serves already. To be called on every rank between the same calls.
  void stop(const char* why);

  // Ranks of both groups.
  int ranks() const { return ranks_; }
  // One line: what ran last, and why.
  std::string explain() const;

 private:
  bool pays();
  std::vector<std::int64_t> largest_of_all(const std::vector<std::int64_t>& mine) const;
  void serve();
  void make_state();

  job_state& job_;
  MPI_Comm comm_;
  int ranks_;
  bool is_undecided_ = true;  // not decided yet whether Shoal serves
  int may_pass_ = 0;
  usage unserved_[2];
  group_investment worth_;
  std::shared_ptr<intercommunicator> state_;
  std::string why_ = "an inter-communicator";
  bool is_wrong_ = false;  // the settings are wrong, and the user should know
};

}  // namespace shoal
