// What may serve the exchanges on one of the user's communicators instead of the MPI's own, and how it is made: memory that
// the ranks of a node share, the communicator's state, and the candidates that the contest of each field may try.
//
// Nothing of it is there at first. What is made is made in the same calls on every rank, as far as the standing allows.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "execute/offered_memory.hpp"
#include "learn/agreements.hpp"
#include "learn/candidates.hpp"
#include "learn/communicator.hpp"
#include "learn/exchange_fields.hpp"
#include "learn/investment.hpp"
#include "learn/job_state.hpp"
#include "learn/neighborhoods.hpp"
#include "learn/standing.hpp"

namespace shoal {

class service {
 public:
  // Whose exchanges it is for. All that is referred to outlives the service.
  struct users {
    MPI_Comm comm;
    collective what;
    int ranks, rank;
    exchange_fields& fields;
  };

  service(job_state& job, const users& whose, standing& stands, agreements& among, waiting& wait);
  service(const service&) = delete;
  service& operator=(const service&) = delete;

  // Null until it is made.
  communicator* state() const { return state_.get(); }
  bool is_made() const { return offered_.is_mapped() || state_; }
  bool is_mapped() const { return offered_.is_mapped(); }
  // Whether a communicator was opened here, which counts among those of the job.
  bool is_counted() const { return is_counted_; }
  int nodes() const { return state_ ? state_->all().where().nodes->nodes() : 1; }
  // The neighbours in exchanges of this form, where some are served; else null.
  const std::shared_ptr<neighborhood>& neighbors(call_form form) const { return neighborhoods_.of(form); }
  const candidates& tried() const { return candidates_; }
  const investment& worth() const { return worth_; }

  // Of ranks that are in the same call, which they wait for: the largest numbers, through memory where all share some.
  std::vector<std::int64_t> agree(std::vector<std::int64_t> mine);

  // Makes memory for all in the second round of a vote, by the first rank: what went wrong is said there.
  void offer(std::span<std::int64_t> said);
  // Maps what was offered, where it pays; else it is dropped. `heard`: what was said.
  void take_offer(std::span<const std::int64_t> heard);
  void drop_offer() { offered_.drop(); }
  // What this rank says of memory that it has mapped; and what all have said of theirs: all have it, or nobody.
  void write(rank_terms& mine) const;
  void take_memory(std::int64_t error, bool unreadable);

  // Makes all of it, collectively, as the ranks have agreed; memory is mapped, to be taken in the next agreement.
  void set_up(const agreed_terms& all);
  // And memory is taken at once.
  void set_up_whole(const agreed_terms& all);
  // Larger exchanges get more memory, where the ledger allows it and one is all ranks' already.
  void share_more(const agreed_terms& all);
  // The state alone, for what is asked for. False, on every rank: what is set does not fit these ranks, which is told, and the
  // MPI's own serves.
  bool make_state();
  // And a communicator of Shoal's. What serves through memory alone goes on without.
  void open_state();

  // Lets the field's contest try what may serve it: where all ranks know the load of its exchanges, or have agreed on it.
  void open_if_known(exchange_field& f);
  void open_if_roomy(exchange_field& f, const agreed_terms& all);
  static void close(exchange_field& f);
  // For good, on every rank.
  void close_all();
  // What a profile or earlier jobs tell of exchanges of a size that all ranks know.
  std::optional<knowledge::of_shape> expected(const exchange_field& f) const;

 private:
  void share(std::size_t most);
  void serve();
  bool has_room(double load) const;
  prepared_algorithms* algorithms_for(call_form form);
  void open(exchange_field& f);

  job_state& job_;
  users whose_;
  standing& stands_;
  agreements& among_;
  waiting& wait_;
  std::shared_ptr<communicator> state_;
  offered_memory offered_;
  investment worth_{job_, whose_.what, whose_.ranks, among_, offered_};
  neighborhoods neighborhoods_{whose_.comm, job_.set()};
  candidates candidates_;
  bool is_counted_ = false;
};

}  // namespace shoal
