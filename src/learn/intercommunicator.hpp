// What Shoal keeps for one of the user's inter-communicators. It is made collectively on first use and has one
// communicator of all ranks. Both directions run over that communicator, each as a schedule that has its senders first.
#pragma once

#include <mpi.h>

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "learn/agreements.hpp"
#include "learn/named_algorithms.hpp"
#include "learn/job_state.hpp"
#include "select/choose_between_groups.hpp"
#include "select/contest.hpp"
#include "select/group_sizes.hpp"
#include "team/group_exchange.hpp"
#include "team/team.hpp"
#include "team/usage.hpp"

namespace shoal {

// A selection made ready for two groups, and counts of the exchanges that it served.
struct group_plan {
  std::string spec;
  selection chosen;
  std::array<std::unique_ptr<const linked_schedule>, 2>
      steps;  // by direction, made when first needed; none for `native`
  by_form<usage> uses;

  bool has_schedule() const { return chosen.which->generate; }
};

struct group_decision {
  group_plan* algorithm = nullptr;
  std::string reason;
};

// Direction 0: the group whose ranks come first in Shoal's communicator sends. Direction 1: the other one.
class intercommunicator : public std::enable_shared_from_this<intercommunicator> {
 public:
  // Takes over `merged`, a communicator of the ranks of both groups of `users`, one group after the other, each in its
  // order. Collective.
  intercommunicator(job_state& job, MPI_Comm users, MPI_Comm merged, const settings& set);

  team& all() { return all_; }
  int rank() const { return all_.rank(); }
  int ranks() const { return all_.ranks(); }
  int senders(int direction) const { return direction == 0 ? first_group_ : ranks() - first_group_; }
  bool sends(int direction) const { return (rank() < first_group_) == (direction == 0); }
  int outgoing() const { return sends(0) ? 0 : 1; }  // the direction in which this rank sends
  std::array<bool, 2> sending() const { return {sends(0), sends(1)}; }
  // This rank's number in its group.
  int local_rank() const { return schedule_rank(outgoing()); }

  group_sizes agreed(const group_sizes& mine) { return agree_on(mine, sending(), all_.agree()); }

  named_algorithms<group_decision>& named() { return named_; }
  // What the model says is best for these sizes.
  const group_decision* choose(const group_sizes& sizes);
  // The MPI's own, which serves until another is faster.
  const group_decision* natives();
  // If nobody asked for an algorithm, the calls themselves settle who serves each kind and size, as in all-to-alls.
  // begin() is called before such a call and returns whether Shoal serves it. All ranks must give the same `uniform`,
  // and the same `sizes` if that is true.
  bool begin(bool uniform, const group_sizes& sizes);
  // What a call counts in.
  struct counting {
    contest* field = nullptr;      // null: its algorithm was named, or it does not count
    bool passes = false;           // nobody needs to know what it takes
    bool is_native_named = false;  // somebody asked for the MPI's own by name, so calls like it pass from now on
  };
  // Called before every call: what is known of the last one says nothing about this one.
  void forget_last() { last_ = {}; }
  // Called instead of begin().
  void leave_to_named_natives() { last_.is_native_named = true; }
  const counting& counts_in() const { return last_; }
  // Called after the call, whatever it was: what it took on this rank. `in`: counts_in() as it was before the call,
  // since the program's error handler may have made calls of its own.
  void end(const counting& in, double seconds);
  // Called instead of end(): the call does not count.
  void take_back(const counting& in);
  // After a call: how many more calls like it the MPI's own serves, and nobody needs to know what they take.
  // have_passed() then counts those that were made. take_back_passed() no longer counts the last of these.
  int untimed_left() const;
  void have_passed(int calls);
  void take_back_passed();
  // Whether Shoal is the best so far for calls of some size.
  bool is_ahead(bool uniform) const;

  // Makes the schedules for the directions in which something moves, if the algorithm has a schedule. Throws
  // std::invalid_argument if it cannot serve these groups.
  void make_ready(group_plan& algorithm, const group_sizes& sizes);
  // The schedules for the directions in which something moves.
  static group_exchange::both_ways schedules_of(const group_plan& algorithm, const group_sizes& sizes);
  void run(const group_plan& algorithm, const group_sizes& sizes, const std::array<payload, 2>& what);
  phase_clock* phases() { return all_.phases(); }
  // The counters of the last run in this direction.
  const exchange_counters& counters(int direction) const { return exchange_.counters(direction); }

  // What ran last, for shoal_comm_explain.
  const group_decision* last = nullptr;
  usage verified, verified_by_sums;
  // All that was made ready, by spec.
  const std::map<std::string, group_plan>& all_plans() const { return plans_; }

 private:
  int schedule_rank(int direction) const { return (rank() + ranks() - first_of(direction)) % ranks(); }
  int first_of(int direction) const { return direction == 0 ? 0 : first_group_; }  // the rank that is the first sender
  linked_schedule make_schedule(const selection& chosen, int direction) const;
  problem groups(int direction) const;
  // Throws std::invalid_argument if the selection can serve neither direction.
  void require_service(const selection& chosen) const;
  group_plan& plan_of(const selection& chosen);
  void review(contest& of);

  job_state& job_;
  team all_;
  agreements agreements_;
  int first_group_;
  std::string network_;
  group_exchange exchange_;
  std::map<std::string, group_plan> plans_;
  named_algorithms<group_decision> named_;
  std::map<std::uint64_t, contest> fields_[2];  // by kind and size of call
  group_decision natives_;
  counting last_;
  std::map<std::uint64_t, group_decision> chosen_;  // by class of sizes
};

}  // namespace shoal
