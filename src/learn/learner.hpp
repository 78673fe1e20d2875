// What one of the user's communicators has earned. Its first calls are the MPI's own: a counter and a clock. Then its
// ranks agree on what they have in common; where the ledger allows it what Shoal needs is made; and a contest for each kind
// and size of exchange settles who serves.
//
// What happens in which call follows from the call's number and from what was agreed, so it is the same on every rank.
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "execute/offered_memory.hpp"
#include "learn/communicator.hpp"
#include "learn/job_state.hpp"
#include "select/contest.hpp"
#include "select/knowledge.hpp"
#include "select/size_pattern.hpp"
#include "team/pending_agreement.hpp"

namespace shoal {

class learner {
 public:
  // Seconds for which ranks with settings wait for others, which may have none.
  static constexpr double patience = 10;
  static constexpr const char* started_apart =
      "ranks that were started apart (MPI_Comm_spawn, MPI_Comm_connect) may not all have Shoal";

  // Makes nothing, and talks to nobody.
  learner(job_state& job, MPI_Comm comm);
  ~learner();
  learner(const learner&) = delete;
  learner& operator=(const learner&) = delete;

  // What is known of a call before it is served: of MPI_Alltoall the bytes of a block, which are the same on every rank;
  // of other forms all that this rank sends.
  struct call_size {
    call_form form;
    std::int64_t bytes;
  };
  // One kind and size of exchange on the communicator.
  struct field {
    contest of;
    exchange_shape shape;
    double load = 0;         // bytes that this rank sends in an exchange
    double loads = 0;        // in all so far
    std::int64_t young = 0;  // calls before it, of which only counts were kept: told with those of the first field
    std::int64_t guess = 0;  // the hash of what was best for such exchanges elsewhere in the job
    std::array<decision, contest::most_candidates> decisions;
    std::array<double, contest::most_candidates> seconds{};  // and calls, on this rank, for the report
    std::array<std::int64_t, contest::most_candidates> calls{};
    std::int64_t bytes = 0;  // sent by the MPI's own
  };
  // Who serves a call: the MPI's own, or a decision of the field.
  struct turn {
    field* in = nullptr;  // null: one of the communicator's first calls
    int candidate = contest::native;
    call_size size{};
    const decision& chosen() const { return in->decisions[candidate]; }
  };

  // Whether a call has to be served as somebody asked: by settings, by the communicator's, or by the call's own.
  bool is_asked(call_form form, MPI_Info info) const;
  // Before and after a call whose algorithm nobody asked for. `is_linked`: the program calls Shoal itself, so all ranks
  // have it.
  turn begin(const call_size& call, bool is_linked);
  void end(const turn& of, double seconds);

  // Makes the state now, for what is asked for; collective. Null, on every rank: Shoal cannot serve these ranks, for the
  // reason in why(), which the user should know if is_wrong(). `is_linked` as in begin().
  communicator* enter(bool is_linked);
  communicator* state() const { return state_.get(); }
  wait_mode waits_by() const { return wait_.mode(); }
  std::shared_ptr<communicator> shared_state() const { return state_; }
  const std::string& why() const { return why_; }
  // One line: what served last, and why.
  std::string explain() const;
  bool is_wrong() const { return wrong_; }
  // Whether it is the MPI's own that serves these ranks, for the reason in why(), though nothing is wrong.
  bool is_left() const { return stage_ == stage::never && !wrong_; }

  // What a kind and size of exchange came to.
  struct lesson {
    call_form form;
    usage natives;       // what the MPI's own served
    double block_bytes;  // of such an exchange
    std::string tried;   // and with what result; empty: nothing
  };
  std::vector<lesson> lessons() const;
  // Makes them part of what the job knows; once, at the end.
  void keep_lessons() const;
  int ranks() const { return ranks_; }

 private:
  // cold: the MPI's own serves. voting: the ranks find out whether all of them are served by Shoal, and alike. known: they
  // are. served: candidates are open. never: not to be served.
  enum class stage { cold, voting, known, served, never };

  class payment;

  bool is_young(const call_size& call) const;
  field& field_of(const call_size& call);
  double load_of(const call_size& call) const;
  field& field_of_sizes(const call_size& call);
  field& new_field(std::map<std::uint64_t, field>& among, std::uint64_t key, call_form form, double load);
  int propose(const std::string& spec);
  void propose_levels(const field& f);
  void open_candidates(field& f);
  void review(field& f);
  void hear(field& f, std::span<const std::int64_t> all);
  void learn_from(const field& f) const;
  std::vector<std::int64_t> terms(field* f);

  bool may_vote();
  void begin_vote(field* f);
  bool end_vote(bool heard_all);
  bool agreements_are_too_long() const;
  void know(std::span<const std::int64_t> all);
  void judge();
  void look_again(field& f, std::span<const std::int64_t> all);
  std::string wrong_settings(std::span<const std::int64_t> all) const;
  void refuse(const std::string& why, bool wrong, int ranks = 1);
  bool on_one_node(std::span<const std::int64_t> all) const;
  double set_up_cost(std::span<const std::int64_t> all) const;
  double hope_of(const field& f) const;
  double native_seconds() const;
  bool pays(std::span<const std::int64_t> all) const;
  void set_up(std::span<const std::int64_t> all);
  void begin_agreed(const call_size& call);
  void begin_as_known(const call_size& call);
  void vote_at_once();
  std::optional<knowledge::of_shape> expected(const field& f) const;
  void apply(const knowledge::of_shape& known, field& f);
  std::vector<std::int64_t> agree(std::vector<std::int64_t> mine);
  std::int64_t own_crowding() const;
  void say_books(std::span<std::int64_t> mine);
  static double allowance(std::span<const std::int64_t> all);
  bool wait_for_vote(double seconds);
  bool has_ended(std::int64_t and_some_gave_up) const;
  bool all_vote() const;
  bool some_gave_up() const;
  bool hear_vote();
  std::int64_t last_agreement() const;
  void hear_of_agreements(std::int64_t least, std::int64_t most);
  bool shares_now(std::span<const std::int64_t> all) const;
  void share(std::size_t most);
  void take_memory(std::int64_t error, bool unreadable);
  void share_more(std::span<const std::int64_t> all);
  void make_state();
  void serve();
  void enter_known();
  void open_state();
  std::string told(const field& f) const;

  job_state& job_;
  MPI_Comm comm_;
  int ranks_ = 1, rank_ = 0;
  waiting wait_;
  stage stage_ = stage::cold;
  bool linked_ = false;
  std::int64_t calls_ = 0, vote_ends_ = -1;      // all calls; the one that hears the vote
  double paid_ = 0, told_paid_ = 0;              // for learning, since the ranks last agreed, and until then
  double agreed_in_ = 0;                         // what the last agreement took on this rank
  double agreement_ = contest::usual_agreement;  // and on the one that waited least
  double longest_agreement_ = contest::usual_agreement, native_call_ = 0;
  std::unique_ptr<pending_agreement> vote_;
  std::vector<std::unique_ptr<pending_agreement>> left_over_;  // of votes that came to nothing
  int failed_votes_ = 0;
  std::vector<std::int64_t> agreed_;  // what the ranks said in the vote
  field* asked_by_ = nullptr;         // whose numbers are part of the vote
  std::string why_;
  bool wrong_ = false;
  bool knows_ = false;  // what earlier jobs learnt is the same on every rank
  double load_ = 0;     // of the first call, when that was agreed on

  std::shared_ptr<communicator> state_;
  offered_memory offered_;
  std::vector<std::string> specs_;                  // the candidates
  std::map<std::uint64_t, field> equal_, varying_;  // of MPI_Alltoall by size, of others by place in the pattern
  by_form<usage> young_;                            // the first calls
  turn last_turn_;
  field* last_ = nullptr;
  std::uint64_t last_key_ = 0;
  size_pattern sizes_;  // of MPI_Alltoallv and MPI_Alltoallw, as this rank knows them
};

}  // namespace shoal
