// What a process knows of its job: settings, facts, the ledger, and what was learnt.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <cstdint>
#include <string>

#include "learn/rank_terms.hpp"
#include "select/call_form.hpp"
#include "select/knowledge.hpp"
#include "select/ledger.hpp"
#include "select/settings.hpp"
#include "team/job_facts.hpp"
#include "team/job_parts.hpp"
#include "team/served_groups.hpp"

namespace shoal {

class job_state {
 public:
  // How many communicators Shoal may have at once. MPICH has 2048 in all, and most belong to the user.
  static constexpr int most_communicators = 512;
  static constexpr const char* differing_profiles =
      "the profiles of ranks differ; set SHOAL_PROFILE to the same readable file on all of them";

  // Reads the settings. May be called before MPI_Init.
  job_state();
  job_state(const job_state&) = delete;
  job_state& operator=(const job_state&) = delete;

  const settings& set() const { return settings_; }
  // Why the settings cannot be used; empty if they can.
  const std::string& problem() const { return problem_; }
  // What is wrong with the settings, once the ranks have agreed on whether these are the same on all ranks, and whether
  // some rank cannot use its own. The text is the same on all ranks, except where a rank has a problem of its own.
  // Empty if nothing is wrong.
  std::string wrong_settings(bool same, bool some_unusable) const;
  // How many nodes `ranks` ranks count as being on: as the settings say, or else one if that was found; 0 if neither
  // tells.
  int nodes_if_known(int ranks, bool found_one) const;
  bool is_on_one_node(int ranks, bool found) const { return nodes_if_known(ranks, found) == 1; }
  // Whether the launcher tells that all ranks of the job are on this node, and this counts as one node.
  bool is_on_this_node() const { return all_here_ && settings_.nodes_share == node_level::machine; }
  // What this rank says about itself and the job in an agreement of `ranks` ranks.
  rank_terms terms(int ranks) const;
  // How many ranks share a core of this node, at least 1: of the job's ranks here if the launcher tells how many, or
  // else of all `ranks` ranks of a communicator.
  int ranks_of_a_core(int ranks) const;
  // Whether the user names an algorithm for such calls or the network between their groups, or the settings are wrong.
  // In these cases the ranks have to agree before the first such call.
  bool asks_for(collective what, call_form form) const { return asks_for_[static_cast<std::size_t>(what)][form]; }
  // Whether the settings name "native" for such calls.
  bool asks_for_natives(collective what, call_form form) const { return names_native(settings_.named(what, form)); }
  // Whether asks_for() is true for some exchange.
  bool asks_for_anything() const {
    return std::any_of(collectives.begin(), collectives.end(), [this](collective what) {
      return std::any_of(call_forms.begin(), call_forms.end(), [&](call_form form) { return asks_for(what, form); });
    });
  }
  // Whether somebody wants to know of every call.
  bool is_watched() const { return settings_.report != reporting::none || !settings_.record.empty(); }
  // Whether the settings name a profile or wisdom, to tell what exchanges take. If so, the ranks agree before the first
  // call too.
  bool knows_before() const { return knows_before_; }
  // What earlier jobs have learnt; the same on all ranks with the same wisdom_hash().
  const knowledge& earlier() const { return earlier_; }
  std::uint64_t wisdom_hash() const { return wisdom_hash_; }
  knowledge& known() { return known_; }
  ledger& books() { return books_; }
  const job_facts& facts() const { return facts_; }
  // Whether several threads of this rank may be in MPI at once.
  bool has_threads() const { return has_threads_; }
  served_groups& served() { return served_; }
  // Ranks with settings wait for others to vote. The others may have no settings and never come, so after three waits
  // in vain these ranks wait no more on new communicators. count_absence() is to be called after each wait.
  void count_absence(bool was_in_vain) { absences_ = was_in_vain ? absences_ + 1 : 0; }
  bool still_waits() const { return absences_ < 3; }
  // The parts of the job, as far as they can be found out; the same on every rank.
  const job_parts& parts();
  // Why the ranks of `comm` must agree on nothing: some of them may lack Shoal. Null if none is known to.
  const char* some_may_lack_shoal(MPI_Comm comm);
  // Groups of ranks that have all read the same wisdom and the same profile.
  served_groups& knowing() { return knowing_; }
  // Whether the ranks of such a group should ask each other about a call: there is a profile, or the wisdom has an
  // exchange among this many ranks that is faster than by the MPI's own.
  bool may_gain(collective what, call_form form, int ranks) const {
    const bool by_profile = settings_.profile || !settings_.profile_fault.empty();
    return (what == collective::alltoall && by_profile) || earlier_.may_gain(what, form, ranks);
  }
  // Whether Shoal has as many communicators open as it may have. count_open() notes how many more it has, or fewer if
  // negative.
  bool is_full() const { return open_ >= most_communicators; }
  void count_open(int more) { open_ += more; }

 protected:
  // To be called once MPI is initialised: finds out the rest, and reads what earlier jobs on this machine and MPI have
  // learnt. Rank 0 of `comm`, on which this rank makes its first call, says what is wrong. Somebody does say it: on at
  // least one communicator all ranks make their first call.
  void begin_job(MPI_Comm comm);
  // Writes what was learnt to the file that the user names, if any. To be called by the first rank of the job.
  void keep_wisdom();

 private:
  void remember(MPI_Comm comm);

  settings settings_;
  std::string problem_;
  std::array<by_form<bool>, collectives.size()> asks_for_{};
  bool knows_before_ = false;
  job_facts facts_;
  bool has_threads_ = false, all_here_ = false;
  served_groups served_, knowing_;
  ledger books_;
  knowledge known_, earlier_;
  std::uint64_t wisdom_hash_ = 0;  // of the wisdom that is used; 0: none
  std::atomic<int> open_ = 0, absences_ = 0;
  std::once_flag looked_for_parts_;
  job_parts parts_;
};

}  // namespace shoal
