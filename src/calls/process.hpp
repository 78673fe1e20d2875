// What Shoal keeps once per process: what it knows of the job, the communicators in use, and what was done.
#pragma once

#include <mpi.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "calls/native_call.hpp"
#include "calls/recent_calls.hpp"
#include "calls/reporter.hpp"
#include "calls/traffic.hpp"
#include "calls/users_communicator.hpp"
#include "learn/group_learner.hpp"
#include "learn/job_state.hpp"
#include "learn/learner.hpp"
#include "team/sparse_ranks.hpp"

namespace shoal {

class process : public job_state {
 public:
  // The one of this process; made on first use, also before MPI_Init.
  static process& get();

  // To be called before the attributes of a communicator are deleted (null: of all communicators). Its number may come
  // again, and on MPICH what is under way on it would keep it alive, with all its attributes. Returns false if
  // something stays under way, because other ranks may never begin it.
  bool leave(const MPI_Comm* comm);

  // To be called, on every rank, when Open MPI duplicates a communicator behind a request. Until the request ends, the
  // ranks may agree on nothing else there, and make no other communicator from it. So the MPI's own collectives serve
  // from now on, unless what Shoal needs is made already.
  void leave_to_duplicate(MPI_Comm comm);

  // The learner of a user's communicator, made on first use. Null outside MPI_Init and MPI_Finalize, between two
  // groups, and while attributes are deleted. Local.
  static learner* learner_of(MPI_Comm comm) {
    learner* const recent = recent_calls::learner_of(comm);
    return recent ? recent : get().found_learner_of(comm);
  }
  // The same for exchanges among neighbours; null also if the communicator has no neighbours.
  [[gnu::hot]] learner* neighbor_learner_of(MPI_Comm comm);
  // Whether an all-to-all is the first on its communicator, and is only counted, as some more like it will be. For
  // these calls Shoal makes nothing but what counts them.
  bool begins_to_count(MPI_Comm comm, const call_signature& call);
  // Why a communicator has no learner, between MPI_Init and MPI_Finalize.
  static const char* why_unknown(MPI_Comm comm);

  // Shoal's state for the all-to-alls on a communicator, made on first use, which is collective. Null, on every rank,
  // if Shoal cannot serve it. `wrong` then says what is wrong, or is empty if the MPI's own collective is right.
  // `is_linked`: the program calls Shoal itself.
  communicator* state_of(MPI_Comm comm, bool is_linked, std::string& wrong);

  // The state if there is one already; else null.
  communicator* present_state_of(MPI_Comm comm) const;

  // The learner of an inter-communicator, made on first use. Null for other communicators. Local.
  group_learner* group_learner_of(MPI_Comm comm);
  // As state_of(), for an inter-communicator.
  intercommunicator* groups_of(MPI_Comm comm, bool is_linked, std::string& wrong);

  // Whether Shoal keeps something for a communicator. Does not ask the MPI, because the program may have freed it. Most
  // calls are on one of the last communicators, and have looked there already.
  bool keeps(MPI_Comm comm) { return recent_calls::find(comm) || held_by(comm); }

  // What expires when the program frees the communicator. None if Shoal does not know the communicator.
  std::optional<std::weak_ptr<const void>> life_of(MPI_Comm comm);

  // The ranks of a communicator for shoal_exchange(), made on first use, which is collective. Null, on every rank, if
  // Shoal cannot serve them; `wrong` then says why.
  std::shared_ptr<sparse_ranks> sparse_of(MPI_Comm comm, std::string& wrong);

  // Calls the MPI's own collective, because Shoal cannot serve a call. If a report is asked for, counts the call with
  // the reason.
  template <typename Call, typename Reason>
  int leave(const Call& call, const Reason& reason, native_call native) {
    return set().report == reporting::none ? native()
                                           : leave_and_report(call.name(), call.comm, std::string(reason), native);
  }
  // Counts an exchange behind a request, which has ended; its communicator may have been freed before. Then what was
  // decided there is gone, but not the algorithm, which is the team's.
  template <typename Prepared>
  void count_ended(team& on, Prepared& algorithm, const std::string& call, call_form form, const usage& what) {
    if (set().report == reporting::none) return;
    if (on.own().is_orphaned()) reporter_.add_late(call, on.ranks(), algorithm.spec, what);
    else algorithm.uses[form].add(what);
  }
  // Counts a run whose checksums were right: in `kept`, or in the report if the program has freed its communicator.
  void count_verified(team& on, usage& kept, std::int64_t bytes);
  // After MPI_Finalize: if nothing was reported, says that there was nothing to report.
  void report_nothing() { reporter_.tell_of_nothing(); }

  // One line: what ran last on a communicator, and why.
  std::string explain(MPI_Comm comm);

  traffic_record& traffic() { return traffic_; }

 private:
  int leave_and_report(const std::string& call, MPI_Comm comm, const std::string& reason, native_call native);
  process() = default;
  bool begin(MPI_Comm comm);
  const char* why_of_its_threads(MPI_Comm comm) const;
  // What Shoal keeps for a communicator; null: nothing yet.
  users_communicator* find(MPI_Comm comm) const;
  users_communicator* attach(MPI_Comm comm);
  users_communicator* communicator_of(MPI_Comm comm);
  learner* found_learner_of(MPI_Comm comm);
  learner* neighbor_learner_made_for(MPI_Comm comm);
  users_communicator* held_by(MPI_Comm comm);
  void report_on(const users_communicator& held);
  void release(users_communicator& held, bool is_freed);
  void finish();
  static int on_free(MPI_Comm comm, int key, void* held, void* self);
  static int on_finalize(MPI_Comm comm, int key, void* state, void* self);

  int state_key_ = MPI_KEYVAL_INVALID, finalize_key_ = MPI_KEYVAL_INVALID;
  std::atomic<bool> open_for_calls_ = false;  // between MPI_Init and MPI_Finalize
  bool finished_ = false;
  bool may_only_count_ = false;  // one thread; nobody asks for anything, or wants to know of calls
  std::mutex lock_;
  std::list<users_communicator> communicators_;  // in the order of their first calls, for the report
  std::array<users_communicator*, recent_calls::places> of_places_{};  // the first one in each place
  reporter reporter_{*this};
  traffic_record traffic_;
};

}  // namespace shoal
