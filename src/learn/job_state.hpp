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
  // MPICH has 2048 communicators in all; most belong to the user.
  static constexpr int most_communicators = 512;
  static constexpr const char* differing_profiles =
      "the profiles of ranks differ; set SHOAL_PROFILE to the same readable file on all of them";

  // Reads the settings; also before MPI_Init.
  job_state();
  job_state(const job_state&) = delete;
  job_state& operator=(const job_state&) = delete;

  const settings& set() const { return settings_; }
  // Why the settings cannot be used; else empty.
  const std::string& problem() const { return problem_; }
  // What is wrong with them, when the ranks have agreed on whether they are the same on all and whether some cannot be used.
  // The same text on every rank that has no reason of its own; empty when nothing is wrong.
  std::string wrong_settings(bool same, bool some_unusable) const;
  // Whether so many ranks count as on one node: as the settings say, or else as the ranks have found.
  bool is_on_one_node(int ranks, bool found) const;
  // What this rank says of itself and the job when so many ranks agree on a communicator.
  rank_terms terms(int ranks) const;
  // Where as many share the cores of this node, if more are not known of.
  int ranks_of_a_core(int ranks) const;
  // Whether the user names an algorithm for such calls, or the network that is between their groups, or settings are wrong: then
  // ranks have to agree before the first.
  bool asks_for(collective what, call_form form) const { return asks_for_[static_cast<std::size_t>(what)][form]; }
  // Whether settings name "native".
  bool asks_for_natives(collective what, call_form form) const { return are_natives(settings_.asked(what, form)); }
  // For some exchange.
  bool asks_for_anything() const {
    return std::any_of(collectives.begin(), collectives.end(), [this](collective what) {
      return std::any_of(call_forms.begin(), call_forms.end(), [&](call_form form) { return asks_for(what, form); });
    });
  }
  // Whether somebody wants to know of every call.
  bool is_watched() const { return settings_.report != reporting::none || !settings_.record.empty(); }
  // Whether a profile or wisdom says what exchanges take, or is to; then they agree before the first call too.
  bool knows_before() const { return knows_before_; }
  // What earlier jobs have learnt, the same on every rank whose wisdom_hash() is.
  const knowledge& earlier() const { return earlier_; }
  std::uint64_t wisdom_hash() const { return wisdom_hash_; }
  knowledge& known() { return known_; }
  ledger& books() { return books_; }
  const job_facts& facts() const { return facts_; }
  // Whether several threads of this rank may be in MPI at once.
  bool has_threads() const { return has_threads_; }
  served_groups& served() { return served_; }
  // Ranks with settings wait for others, which may have none; but not on every new communicator. What came of a wait:
  void count_absence(bool was_in_vain) { absences_ = was_in_vain ? absences_ + 1 : 0; }
  bool still_waits() const { return absences_ < 3; }
  // Of the job, as far as can be found out; the same on every rank.
  const job_parts& parts();
  // Groups of ranks which all have read the same wisdom and the same profile.
  served_groups& knowing() { return knowing_; }
  // Whether these are worth asking: by wisdom some exchange among so many ranks is faster than by the MPI's own.
  bool may_gain(collective what, call_form form, int ranks) const {
    const bool by_profile = settings_.profile || !settings_.profile_fault.empty();
    return (what == collective::alltoall && by_profile) || earlier_.may_gain(what, form, ranks);
  }
  // Of communicators of Shoal's own.
  bool is_full() const { return open_ >= most_communicators; }
  void count_open(int more) { open_ += more; }

 protected:
  // When MPI is there: finds out the rest, and reads what earlier jobs on this machine and MPI have learnt. What is wrong is
  // said on `comm`, of the first call: of all first calls one is the first of all its ranks.
  void begin_job(MPI_Comm comm);
  // Writes what was learnt where it is wanted; by the first rank of the job.
  void keep_wisdom();

 private:
  void remember(MPI_Comm comm);

  settings settings_;
  std::string problem_;
  std::array<by_form<bool>, collectives.size()> asks_for_{};
  bool knows_before_ = false;
  job_facts facts_;
  bool has_threads_ = false;
  served_groups served_, knowing_;
  ledger books_;
  knowledge known_, earlier_;
  std::uint64_t wisdom_hash_ = 0;  // of what is used
  std::atomic<int> open_ = 0, absences_ = 0;
  std::once_flag looked_for_parts_;
  job_parts parts_;
};

}  // namespace shoal
