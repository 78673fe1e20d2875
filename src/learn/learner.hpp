// What the all-to-alls on one of the user's communicators have earned, or the exchanges among its neighbours. The first
// calls are the MPI's own: a counter and a clock. Then its ranks agree on what they have in common; where the ledger allows
// it, what Shoal needs is made; and a contest for each kind and size of exchange settles who serves.
//
// What happens in which call follows from the call's number and from what was agreed, so it is the same on every rank.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "learn/agreements.hpp"
#include "learn/communicator.hpp"
#include "learn/exchange_fields.hpp"
#include "learn/first_calls.hpp"
#include "learn/job_state.hpp"
#include "learn/lessons.hpp"
#include "learn/rank_terms.hpp"
#include "learn/service.hpp"
#include "learn/standing.hpp"
#include "learn/voting.hpp"
#include "transport/waiting.hpp"

namespace shoal {

class learner {
 public:
  // Makes nothing, and talks to nobody. `comm` has neighbours, where it is their exchanges.
  learner(job_state& job, MPI_Comm comm, collective what);
  ~learner();
  learner(const learner&) = delete;
  learner& operator=(const learner&) = delete;

  // Who serves a call: the MPI's own, or a decision of the field.
  struct serving {
    exchange_field* in = nullptr;  // null: one of the communicator's first calls
    int candidate = contest::native;
    call_size size{};
    bool is_timed = true;
    bool passes = false;    // nothing is decided by what it takes; the report alone may tell
    bool is_placed = true;  // its size is part of the pattern of sizes
    const decision& chosen() const { return in->decisions[candidate]; }
  };

  // Whether a call has to be served as somebody asked: by settings, by the communicator's, or by the call's own.
  bool is_asked(call_form form, MPI_Info info) const;
  // Before and after a call whose algorithm nobody asked for. `is_linked`: the program calls Shoal itself, so all ranks
  // have it.
  serving begin(const call_size& call, bool is_linked);
  // Whether nothing is to be learnt of calls here that nobody asks for, nor counted: a rank is alone.
  [[gnu::hot]] bool is_idle() const { return is_idle_; }
  // Whether such a call is the MPI's own and nobody needs to know what it takes; then that is all. `bytes`: of a block of
  // MPI_Alltoall. Asked before begin().
  [[gnu::hot]] bool passes(call_form form, std::int64_t bytes) { return !is_watched_ && passing(form, bytes); }
  // Behind a call that passed, and behind another since last asked: how many calls like it need not be seen; and that some have
  // been made.
  int will_pass() const { return last_served_.in->of.untimed(); }
  int may_pass() { return std::exchange(may_pass_, 0); }
  void have_passed(int calls);
  void end(const serving& of, double seconds);
  // Instead, on every rank alike: what was to serve the call could not, and is not to be tried for such calls any more.
  void give_way(const serving& of);
  // Or: the call counts no more. The same for one that passed.
  void take_back(const serving& of);
  void take_back_passed();
  // Whether enter() was called.
  bool was_entered() const { return was_entered_; }
  // Whether ranks wait for each other in begin() of the next call.
  bool meets_others_first(bool is_linked) const;
  // Whether MPI_Alltoall with blocks of so many bytes is as the last exchange was.
  bool is_as_last(std::int64_t bytes) const { return fields_.is_as_last(bytes); }

  // Makes the state now, for what is asked for; collective. Null, on every rank: Shoal cannot serve these ranks, for the
  // reason in why(), which the user should know if is_wrong(). `is_linked` as in begin().
  communicator* enter(bool is_linked);
  // The same where the MPI's own is asked for by name: settings are compared, and no communicator is made.
  communicator* enter_for_natives(bool is_linked);
  bool asks_for_natives(call_form form) const;
  communicator* state() const { return begun_ ? begun_->serves.state() : nullptr; }
  // Whether a communicator was opened here, which counts among those of the job.
  bool is_counted() const { return begun_ && begun_->serves.is_counted(); }
  // The neighbours in exchanges of this form, where some are served; else null.
  const std::shared_ptr<neighborhood>& neighbors(call_form form) const {
    static const std::shared_ptr<neighborhood> none;
    return begun_ ? begun_->serves.neighbors(form) : none;
  }
  wait_mode waits_by() const;
  const std::string& why() const { return stands_.why; }
  // One line: what served last, and why.
  std::string explain() const;
  bool is_wrong() const { return stands_.is_wrong; }
  // Whether it is the MPI's own that serves these ranks, for the reason in why(), though nothing is wrong.
  bool is_left() const { return stands_.now == stage::never && !stands_.is_wrong; }

  MPI_Comm comm() const { return comm_; }
  // To be called on every rank before the communicator is freed: ends what is under way on it. False: something stays, because
  // some rank may never begin it.
  bool leave();
  // The MPI's own serves from now on, unless what Shoal needs is made. To be called on every rank between the same calls.
  void stop(const char* why);

  collective what() const { return what_; }
  std::vector<lesson> lessons() const { return lessons_of(young_, fields_, specs(), blocks_); }
  // Makes them part of what the job knows; once, at the end.
  void keep_lessons() const { count_communicator(job_.known(), young_, fields_, nodes()); }
  std::int64_t calls() const { return calls_; }
  int ranks() const { return ranks_; }
  // Blocks that this rank sends in an exchange.
  int blocks() const { return blocks_; }

 private:
  using stage = standing::stage;

  // What is needed when ranks agree for the first time.
  struct agreeing {
    explicit agreeing(learner& of);
    waiting wait;
    agreements agrees;
    voting votes;
    service serves;
  };
  // Makes that; else it is there only after a call of this.
  void begin_to_agree();
  agreements& agrees() const { return begun_->agrees; }
  voting& votes() const { return begun_->votes; }
  service& serves() const { return begun_->serves; }
  int nodes() const { return begun_ ? begun_->serves.nodes() : 1; }
  // Of the candidates; none before there are any.
  std::span<const std::string> specs() const;

  [[gnu::hot]] exchange_field* passing(call_form form, std::int64_t bytes);
  bool is_young(const call_size& call) const;
  void end_first(const call_size& call, double seconds);
  exchange_field& field_of(const call_size& call);

  rank_terms terms(exchange_field* f);
  void add_terms(exchange_field& f, rank_terms& mine);
  void review(exchange_field& f);
  std::int64_t calls_until_heard(const exchange_field& f, bool is_first) const;
  void look();
  void end_review();
  void go_on(exchange_field& f, const agreed_terms& all);
  bool may_agree() const;
  void hear(exchange_field& f, const agreed_terms& all);

  int first_agreement(const exchange_field& f) const;
  bool is_early(const exchange_field& f) const;
  void begin_vote(exchange_field* f);
  void go_on_voting();
  void confirm_vote(bool heard_all);
  bool end_vote();
  void know(const agreed_terms& all);
  void judge();
  void note_outcome(const agreed_terms& all) const;
  void look_again(exchange_field& f, const agreed_terms& all);
  void part();
  void refuse(const std::string& why, bool wrong) { stands_.refuse(comm_, why, wrong); }

  void begin_agreed(const call_size& call);
  void begin_as_known(const call_size& call);
  void vote_at_once();
  void enter_known();

  job_state& job_;
  MPI_Comm comm_;
  collective what_;
  int ranks_, rank_, blocks_;
  // What every call looks at.
  bool is_watched_;                            // somebody wants to know of every call
  bool is_idle_;                               // a rank is alone, and nobody asks for anything
  bool linked_ = false, was_entered_ = false;  // for what is asked for
  bool was_called_ = false;
  int may_pass_ = 0;
  std::int64_t calls_ = 0;
  serving last_served_;
  // What the ranks are saying of a field, which all of them hear in the same call.
  std::unique_ptr<pending_agreement> said_;
  standing stands_;
  exchange_fields fields_{what_, ranks_};

  exchange_field* said_of_ = nullptr;  // by said_
  std::int64_t heard_in_ = -1;
  first_calls young_;
  std::unique_ptr<agreeing> begun_;  // refers to what is above
};

}  // namespace shoal
