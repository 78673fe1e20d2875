// What Shoal keeps for one of the user's inter-communicators, made collectively on first use: one communicator of all
// ranks, over which both directions run, each as a schedule with its senders first.
#pragma once

#include <mpi.h>

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "learn/agreements.hpp"
#include "learn/asked_algorithms.hpp"
#include "learn/job_state.hpp"
#include "select/choose_between_groups.hpp"
#include "select/contest.hpp"
#include "select/group_sizes.hpp"
#include "team/group_exchange.hpp"
#include "team/team.hpp"
#include "team/usage.hpp"

namespace shoal {

// A selection made ready for two groups, and what was done with it.
struct group_plan {
  std::string spec;
  selection chosen;
  std::array<std::unique_ptr<const program>, 2> steps;  // by direction, made when first needed; none for `native`
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
  // Takes over `merged`, the ranks of both groups of `users`, each group in its order. Collective.
  intercommunicator(job_state& job, MPI_Comm users, MPI_Comm merged, const settings& set);

  team& all() { return all_; }
  int rank() const { return all_.rank(); }
  int ranks() const { return all_.ranks(); }
  int senders(int direction) const { return direction == 0 ? first_group_ : ranks() - first_group_; }
  bool sends(int direction) const { return (rank() < first_group_) == (direction == 0); }
  int outgoing() const { return sends(0) ? 0 : 1; }  // the direction in which this rank sends
  std::array<bool, 2> sending() const { return {sends(0), sends(1)}; }
  // Among those of its group.
  int local_rank() const { return schedule_rank(outgoing()); }

  group_sizes agreed(const group_sizes& mine) { return agree_on(mine, sending(), all_.agree()); }

  asked_algorithms<group_decision>& asked() { return asked_; }
  // The best by the model.
  const group_decision* choose(const group_sizes& sizes);
  // Until another is faster.
  const group_decision* natives();
  // Who serves calls of a kind and size that nobody asks for is settled on the calls themselves, as for all-to-alls. Before
  // such a call: whether Shoal serves it. All ranks must give the same.
  bool begin(bool uniform, const group_sizes& sizes);
  // After it, or any other call: what it took on this rank.
  void end(double seconds);
  // Instead: it does not count.
  void take_back();
  // Whether Shoal served best so far.
  bool is_ahead(bool uniform) const;

  // Makes the programs for the directions in which something moves, where there is a schedule. Throws
  // std::invalid_argument where it cannot serve these groups.
  void make_ready(group_plan& algorithm, const group_sizes& sizes);
  // Those of the directions in which something moves.
  static group_exchange::programs programs_of(const group_plan& algorithm, const group_sizes& sizes);
  void run(const group_plan& algorithm, const group_sizes& sizes, const std::array<payload, 2>& what);
  phase_clock* phases() { return all_.phases(); }
  // Of the last run, in a direction.
  const exchange_counters& counters(int direction) const { return exchange_.counters(direction); }

  // What ran last, for shoal_comm_explain.
  const group_decision* last = nullptr;
  usage verified, verified_by_sums;
  // What was made ready, by name.
  const std::map<std::string, group_plan>& all_plans() const { return plans_; }

 private:
  int schedule_rank(int direction) const { return (rank() + ranks() - first_of(direction)) % ranks(); }
  int first_of(int direction) const { return direction == 0 ? 0 : first_group_; }  // the rank that is the first sender
  program make_program(const selection& chosen, int direction) const;
  problem groups(int direction) const;
  // Throws std::invalid_argument where it can serve neither direction.
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
  asked_algorithms<group_decision> asked_;
  std::map<std::uint64_t, contest> fields_[2];  // by kind and size of call
  group_decision natives_;
  contest* running_ = nullptr;                      // of the call being served
  std::map<std::uint64_t, group_decision> chosen_;  // by class of sizes
};

}  // namespace shoal
