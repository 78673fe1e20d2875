// What Shoal keeps once per process: what it knows of the job, the communicators in use, and what was done.
#pragma once

#include <mpi.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "calls/native_call.hpp"
#include "calls/recent_calls.hpp"
#include "calls/report.hpp"
#include "calls/traffic.hpp"
#include "calls/users_communicator.hpp"
#include "learn/intercommunicator.hpp"
#include "learn/job_state.hpp"
#include "learn/learner.hpp"
#include "learn/neighborhood.hpp"
#include "team/sparse_ranks.hpp"

namespace shoal {

class process : public job_state {
 public:
  // The one of this process; made on first use, also before MPI_Init.
  static process& get();

  // To be called before the attributes of a communicator are deleted, or of all (null): its number may come again, and what
  // is under way on it would keep it (MPICH), with all its attributes. False: some of that stays, because other ranks may
  // never begin it.
  bool leave(const MPI_Comm* comm);

  // Where Open MPI duplicates a communicator behind a request, nothing else may be agreed on there, nor another be made: its
  // own collectives serve from then on, but where what Shoal needs is made already. To be called on every rank.
  void leave_to_duplicate(MPI_Comm comm);

  // What hangs on a user's communicator; null outside MPI_Init and MPI_Finalize, where the MPI's own serves. Local.
  static learner* learner_of(MPI_Comm comm) {
    learner* const recent = recent_calls::learner_of(comm);
    return recent ? recent : get().found_learner_of(comm);
  }
  // The same for exchanges among neighbours; null too where there are none.
  [[gnu::hot]] learner* neighbor_learner_of(MPI_Comm comm);
  // Whether an all-to-all is the first on its communicator, and is only counted, as some like it will be: for those nothing is
  // made but what counts them.
  bool begins_to_count(MPI_Comm comm, const call_signature& call);
  // Why there is nothing on it, between MPI_Init and MPI_Finalize.
  static const char* why_unknown(MPI_Comm comm);

  // Shoal's state for a communicator, made on first use, which is collective. Null, on every rank, when Shoal
  // cannot serve it; `wrong` then says what is wrong, or is empty where the MPI's own collective is the right one.
  // `is_linked`: the program calls Shoal itself.
  communicator* state_of(MPI_Comm comm, bool is_linked, std::string& wrong);

  // The state when there is one already; else null.
  communicator* present_state_of(MPI_Comm comm) const;

  // The same for an inter-communicator.
  intercommunicator* groups_of(MPI_Comm comm, bool is_linked, std::string& wrong);

  // The neighbours on a communicator that has some, for calls of a form, made on first use, which is collective. Null as
  // for state_of().
  std::shared_ptr<neighborhood> neighbors_of(MPI_Comm comm, call_form form, bool is_linked, std::string& wrong);
  // Those that there are already; else null.
  std::shared_ptr<neighborhood> present_neighbors_of(MPI_Comm comm, call_form form) const;

  // The ranks of a communicator for shoal_exchange(), made on first use, which is collective. Null, on every rank, where
  // they cannot be served; `wrong` then says why.
  std::shared_ptr<sparse_ranks> sparse_of(MPI_Comm comm, std::string& wrong);

  // Whether calls between two groups that nobody asked for were enough to make what serves them; the MPI's own until then.
  bool has_earned_groups(MPI_Comm comm);
  // `known`: bytes of a message from each group, together, where both groups know them.
  void count_cold(MPI_Comm comm, bool uniform, std::int64_t sent, std::int64_t known, double seconds);

  // The MPI's own, where Shoal cannot serve a call: counted with the reason, where a report is asked for.
  template <typename Call, typename Reason>
  int leave(const Call& call, const Reason& reason, native_call native) {
    return set().report == reporting::none ? native() : leave_told(call.name(), std::string(reason), native);
  }
  // An exchange behind a request; its communicator may have been freed when it ended.
  template <typename Decision>
  void count_ended(team& on, const Decision& chosen, const std::string& call, call_form form, const usage& what) {
    if (set().report == reporting::none) return;
    if (on.own().is_left()) report_late(call, on.ranks(), chosen.algorithm->spec, what);
    else chosen.algorithm->uses[form].add(what);
  }
  // Behind MPI_Finalize: that there was nothing to report, if so.
  void tell_of_none();

  // One line: what ran last on a communicator, and why.
  std::string explain(MPI_Comm comm);

  traffic_record& traffic() { return traffic_; }

 private:
  int leave_told(const std::string& call, const std::string& reason, native_call native);
  process() = default;
  bool begin(MPI_Comm comm);
  // What hangs on a communicator; null: nothing yet.
  users_communicator* find(MPI_Comm comm) const;
  users_communicator* attach(MPI_Comm comm);
  users_communicator* communicator_of(MPI_Comm comm);
  learner* found_learner_of(MPI_Comm comm);
  learner* neighbor_learner_made_for(MPI_Comm comm);
  users_communicator* held_by(MPI_Comm comm);
  users_groups* groups_on(MPI_Comm comm);
  bool pays_to_serve(MPI_Comm comm, users_groups& groups);
  std::vector<std::int64_t> largest_of_groups(MPI_Comm comm, const std::vector<std::int64_t>& mine,
                                              users_groups& groups);
  void serve_groups(MPI_Comm comm, users_groups& groups);
  void report_on(const users_communicator& held);
  void report_late(const std::string& call, int ranks, const std::string& spec, const usage& what);
  void release(users_communicator& held, bool is_freed);
  void finish();
  void tell();
  static int on_free(MPI_Comm comm, int key, void* held, void* self);
  static int on_finalize(MPI_Comm comm, int key, void* state, void* self);

  int state_key_ = MPI_KEYVAL_INVALID, finalize_key_ = MPI_KEYVAL_INVALID;
  std::atomic<bool> open_for_calls_ = false;  // between MPI_Init and MPI_Finalize
  bool finished_ = false;
  bool may_only_count_ = false;  // nobody asks for anything, or wants to know of calls
  std::mutex lock_;
  std::list<users_communicator> communicators_;  // in the order of their first calls, as the report tells them
  std::array<users_communicator*, recent_calls::places> of_places_{};  // the first of each place
  usage_report report_;
  bool told_ = false;
  traffic_record traffic_;
};

}  // namespace shoal
