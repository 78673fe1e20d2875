// Learns who should serve the all-to-alls on one of the user's communicators, or the exchanges among its neighbours.
// The MPI's own serves the first calls, and the learner only counts and times them. Then the ranks agree on what they
// have in common. If the ledger allows it, they make what Shoal needs, and a contest for each kind and size of exchange
// settles who serves.
//
// What happens in which call follows from the number of the call and from what was agreed, so it is the same on every
// rank.
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
#include "team/error_handlers.hpp"
#include "transport/waiting.hpp"

namespace shoal {

class learner {
 public:
  // Creates nothing yet and does not communicate. `comm` must have a topology if `what` is the exchange among
  // neighbours.
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
    bool passes = false;    // its time decides nothing; at most the report tells it
    bool is_placed = true;  // its size was counted in the pattern of sizes
    const decision& chosen() const { return in->decisions[candidate]; }
  };

  // Whether a call has to be served as somebody asked: in the settings, for the communicator, or in the MPI_Info of the
  // call.
  bool names_algorithm(call_form form, MPI_Info info) const;
  // To be called before a call whose algorithm nobody asked for: returns who serves it. end() is called after it.
  // `is_linked`: the program calls Shoal itself, so all ranks have it.
  serving begin(const call_size& call, bool is_linked);
  // Whether calls for which nobody asked for an algorithm are neither counted nor learnt from, because this rank is
  // alone.
  [[gnu::hot]] bool is_idle() const { return is_idle_; }
  // Whether the MPI's own serves such a call and nobody needs to know what it takes. If so the call is counted, and
  // begin() and end() are not called. To be asked before begin(). `bytes`: the size of a block in MPI_Alltoall.
  [[gnu::hot]] bool passes(call_form form, std::int64_t bytes) { return !is_looked_at() && passing(form, bytes); }
  // How many more calls like the last one Shoal need not look at: will_pass() tells after a call that passed,
  // take_passes() after another call, and only once. have_passed() then counts those that were made.
  int will_pass() const { return last_served_.in->trials.untimed_left(); }
  int take_passes() { return std::exchange(may_pass_, 0); }
  void have_passed(int calls);
  // To be called after a call that the MPI's own served because somebody asked for it by name. Calls like it pass from
  // now on, and count as little as it did.
  void let_named_pass();
  void end(const serving& of, double seconds);
  // Called instead of end(), on every rank alike: the candidate could not serve the call, and is not tried for such
  // calls any more.
  void give_way(const serving& of);
  // Called instead of end(): the call does not count. take_back_passed() does the same for a call that passed.
  void take_back(const serving& of);
  void take_back_passed();
  // Whether enter() or enter_for_natives() was called.
  bool was_entered() const { return was_entered_; }
  // Whether ranks wait for each other in begin() of the next call.
  bool meets_others_first(bool is_linked) const;
  // Whether a call of MPI_Alltoall with blocks of `bytes` bytes would belong to the same field as the last exchange.
  bool is_as_last(std::int64_t bytes) const { return fields_.is_as_last(bytes); }

  // Makes the state now, because somebody asked for an algorithm; collective. Returns null, on every rank, if Shoal
  // cannot serve these ranks. why() is the reason then, and the user should know it if is_wrong(). `is_linked` as in
  // begin().
  communicator* enter(bool is_linked);
  // The same if somebody asked for the MPI's own by name: the ranks compare their settings, but Shoal opens no
  // communicator.
  communicator* enter_for_natives(bool is_linked);
  bool asks_for_natives(call_form form) const;
  communicator* state() const { return begun_ ? begun_->serves.state() : nullptr; }
  // Whether Shoal opened a communicator here, which counts among those of the job.
  bool is_counted() const { return begun_ && begun_->serves.is_counted(); }
  // Who exchanges with whom in calls of this form; null if nobody needed it yet.
  neighborhood* among(call_form form) const { return begun_ ? begun_->serves.among(form) : nullptr; }
  // The same, made on first use, after enter(); collective. Null, on every rank, if the ranks can make no graph of their
  // neighbours, for the reason in why().
  neighborhood* make_among(call_form form) { return serves().make_among(form); }
  wait_mode waits_by() const;
  const std::string& why() const { return stands_.why; }
  // One line: what served last, or the choice while it is compared with another candidate; and why.
  std::string explain() const;
  bool is_wrong() const { return stands_.is_wrong; }
  // Whether the MPI's own serves these ranks for good, for the reason in why(), though nothing is wrong.
  bool is_left_to_mpi() const { return stands_.now == stage::never && !stands_.is_wrong; }

  MPI_Comm comm() const { return comm_; }
  // To be called on every rank before the communicator is freed: leaves what is under way on it to the MPI. Returns
  // whether nothing is, so that the communicator can be disconnected.
  bool let_go();
  // From now on the MPI's own serves, unless Shoal serves already. To be called on every rank between the same calls.
  void stop(const char* why);

  collective what() const { return what_; }
  std::vector<lesson> lessons() const { return lessons_of(young_, fields_, specs(), blocks_); }
  // Counts this communicator in what the job knows; to be called once, at the end.
  void keep_lessons() const { count_communicator(job_.known(), young_, fields_, nodes()); }
  std::int64_t calls() const { return calls_; }
  // Whether there was any call.
  bool was_used() const { return calls() > 0 || (state() && state()->last); }
  int ranks() const { return ranks_; }
  // Blocks that this rank sends in an exchange.
  int blocks() const { return blocks_; }

 private:
  using stage = standing::stage;

  // What a learner needs once the ranks agree for the first time.
  struct agreeing {
    explicit agreeing(learner& of);
    waiting wait;
    agreements agrees;
    voting votes;
    service serves;
  };
  // Makes `begun_` if it is not there. Only after this may agrees(), votes() and serves() be called.
  void begin_to_agree();
  agreements& agrees() const { return begun_->agrees; }
  voting& votes() const { return begun_->votes; }
  service& serves() const { return begun_->serves; }
  // How many nodes the ranks are on, as far as this rank knows; 0 if it does not.
  int nodes() const;
  // The specs of the candidates; empty before there are any.
  std::span<const std::string> specs() const;

  // Whether begin() and end() are called for every call: a call that the MPI refuses may make others, in an error
  // handler.
  bool is_looked_at() const { return is_watched_ || error_handlers::were_made(); }
  [[gnu::hot]] exchange_field* passing(call_form form, std::int64_t bytes);
  bool is_young(const call_size& call) const;
  void end_first(const call_size& call, double seconds);
  exchange_field& field_of(const call_size& call);

  rank_terms terms(exchange_field* f);
  void add_terms(exchange_field& f, rank_terms& mine);
  void review(exchange_field& f);
  std::int64_t calls_until_heard(const exchange_field& f, bool is_first) const;
  bool has_to_look() const { return stands_.now == stage::voting || pending_ || looks_back_until_ > 0; }
  void look();
  void look_back();
  void leave();
  void forget_pending();
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
  void stop_for_differing_calls();
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
  bool is_idle_;                               // this rank is alone, and nobody asks for anything
  bool linked_ = false, was_entered_ = false;  // `is_linked` of the last call; enter() was called
  bool was_called_ = false;
  bool named_pass_ = false;  // the last calls that passed were asked for by name
  int may_pass_ = 0;
  std::int64_t calls_ = 0;
  serving last_served_;
  // The agreement about a field that is under way; all ranks hear its result in the same call.
  std::unique_ptr<pending_agreement> pending_;
  standing stands_;
  exchange_fields fields_{what_, ranks_};

  exchange_field* pending_field_ = nullptr;  // the field that pending_ is about
  std::int64_t pending_ends_in_ = -1;        // the call in which pending_ is heard; -1: none
  std::int64_t looks_back_until_ = 0;        // the last call that looks at a vote that failed; 0: none does
  first_calls young_;
  std::unique_ptr<agreeing> begun_;  // refers to the members above
};

}  // namespace shoal
