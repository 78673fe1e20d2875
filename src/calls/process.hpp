// What Shoal keeps once per process: settings, the ledger, what was learnt, the communicators in use, and what was done.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "calls/left_call.h"
#include "calls/native_call.hpp"
#include "calls/pending_communicator.hpp"
#include "calls/report.hpp"
#include "calls/traffic.hpp"
#include "learn/intercommunicator.hpp"
#include "learn/learner.hpp"
#include "select/knowledge.hpp"
#include "select/ledger.hpp"
#include "team/job_facts.hpp"
#include "team/served_groups.hpp"
#include "team/settings.hpp"
#include "team/sparse_ranks.hpp"

namespace shoal {

class process {
 public:
  // MPICH has 2048 communicators in all; most belong to the user.
  static constexpr int most_communicators = 512;

  // The one of this process; made on first use, also before MPI_Init.
  static process& get();

  // What hangs on a user's communicator; null outside MPI_Init and MPI_Finalize, where the MPI's own serves. Local.
  learner* learner_of(MPI_Comm comm);

  // Shoal's state for a communicator, made on first use, which is collective. Null, on every rank, when Shoal
  // cannot serve it; `wrong` then says what is wrong, or is empty where the MPI's own collective is the right one.
  communicator* state_of(MPI_Comm comm, std::string& wrong);

  // The ranks of a communicator for calls that may not wait; begun on first use, which is collective, if not there yet.
  std::shared_ptr<pending_communicator> pending_of(MPI_Comm comm);

  // The state when there is one already; else null.
  communicator* present_state_of(MPI_Comm comm) const;

  // The same for an inter-communicator.
  intercommunicator* groups_of(MPI_Comm comm, std::string& wrong);

  // The ranks of a communicator for shoal_exchange(), made on first use, which is collective. Null, on every rank, where
  // they cannot be served; `wrong` then says why.
  sparse_ranks* sparse_of(MPI_Comm comm, std::string& wrong);

  // Whether calls between two groups that nobody asked for were enough to make what serves them; the MPI's own until then.
  bool has_earned_groups(MPI_Comm comm);
  void count_cold(MPI_Comm comm, bool uniform, std::int64_t bytes, double seconds);

  // The MPI's own, where Shoal cannot serve a call of this name: counted with the reason, where a report is asked for.
  int leave(const std::string& call, const std::string& reason, native_call native);
  // An exchange that ended when its communicator had been freed.
  void count_late(const std::string& call, int ranks, const std::string& algorithm, const usage& what);
  // Calls that the preload leaves to the MPI and counts, until MPI_Finalize. False: nobody wants to know.
  bool watch(const left_call& call);
  // Behind MPI_Finalize: that there was nothing to report, if so.
  void tell_of_none();

  // One line: what ran last on a communicator, and why.
  std::string explain(MPI_Comm comm);

  const settings& set() const { return settings_; }
  // Why the settings cannot be used; else empty.
  const std::string& problem() const { return problem_; }
  // What is wrong with what ranks want, from the largest of what they say: a hash of their settings and its negative, and
  // whether those are unusable. The same on every rank that has no reason of its own; empty when nothing is wrong.
  std::string wrong_settings(std::span<const std::int64_t> all) const;
  // Whether the user names an algorithm, or settings are wrong, so that ranks have to agree before the first call.
  bool asks_at_once(call_form form) const { return asks_at_once_[form]; }
  // Whether the user names an algorithm for allgathers between two groups, or the network that connects them.
  bool asks_for_groups(call_form form) const {
    return settings_.asked(collective::allgather, form) || settings_.network != "full";
  }
  // Whether a profile or wisdom says what exchanges take, or is to; then they agree before the first call too.
  bool knows_before() const { return knows_before_; }
  // What earlier jobs have learnt, the same on every rank whose wisdom_hash() is.
  const knowledge& earlier() const { return earlier_; }
  const job_facts& facts() const { return facts_; }
  // Whether several threads of this rank may be in MPI at once.
  bool has_threads() const { return has_threads_; }
  served_groups& served() { return served_; }
  ledger& books() { return books_; }
  knowledge& known() { return known_; }
  std::uint64_t wisdom_hash() const { return wisdom_hash_; }
  bool is_full() const { return open_ >= most_communicators; }
  void count_open(int more) { open_ += more; }
  traffic_record& traffic() { return traffic_; }

 private:
  // What hangs on a user's communicator.
  struct attribute {
    std::unique_ptr<learner> of_ranks;          // null: an inter-communicator
    std::shared_ptr<intercommunicator> groups;  // open requests keep it
    std::unique_ptr<sparse_ranks> sparse;       // null: none exchanged so yet
    std::shared_ptr<pending_communicator> pending;
    bool unserved_groups = false;  // an inter-communicator that was not asked to be served yet
    int ranks = 0;                 // of both groups
    usage cold[2];                 // calls between the groups before that
    std::string why;
    bool wrong = false;  // the settings are, so that the user should know
  };

  process();
  bool begin();
  // The attribute of a communicator; null: it has none yet.
  attribute* find(MPI_Comm comm) const;
  attribute* attach(MPI_Comm comm);
  attribute* attribute_of(MPI_Comm comm);
  void serve_groups(MPI_Comm comm, attribute& held);
  void remember();
  void keep_wisdom();
  void report_on(const attribute& held);
  void release(attribute* held, MPI_Comm users);
  void finish();
  void tell();
  static int on_free(MPI_Comm comm, int key, void* state, void* self);
  static int on_finalize(MPI_Comm comm, int key, void* state, void* self);

  settings settings_;
  std::string problem_;
  by_form<bool> asks_at_once_;
  job_facts facts_;
  bool has_threads_ = false;
  served_groups served_;
  ledger books_;
  bool knows_before_ = false;
  knowledge known_, earlier_;
  std::uint64_t wisdom_hash_ = 0;  // of what was read
  int state_key_ = MPI_KEYVAL_INVALID, finalize_key_ = MPI_KEYVAL_INVALID;
  std::atomic<bool> open_for_calls_ = false;  // between MPI_Init and MPI_Finalize
  bool finished_ = false;
  std::mutex lock_;
  std::vector<attribute*> attributes_;
  std::atomic<std::uint64_t> released_ = 0;  // how many were released
  std::atomic<int> open_ = 0;                // communicators of Shoal's own
  usage_report report_;
  std::vector<const left_call*> left_;  // that the preload counts
  bool told_ = false;
  traffic_record traffic_;
};

}  // namespace shoal
