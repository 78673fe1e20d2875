// What may serve the exchanges on one of the user's communicators instead of the MPI's own, and how it is made: memory
// that the ranks of a node share, the communicator's state, and the candidates that the contest of each field may try.
//
// At first nothing of this exists. Every rank makes it in the same calls, as far as the standing allows.
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
#include "learn/standing.hpp"

namespace shoal {

class service {
 public:
  // Whose exchanges the service is for. All that is referred to must outlive the service.
  struct owner {
    MPI_Comm comm;
    collective what;
    int ranks, rank;
    exchange_fields& fields;
  };

  service(job_state& job, const owner& whose, standing& stands, agreements& agrees, waiting& wait);
  service(const service&) = delete;
  service& operator=(const service&) = delete;

  // Null until the state is made.
  communicator* state() const { return state_.get(); }
  bool is_made() const { return offered_.is_mapped() || state_; }
  bool is_mapped() const { return offered_.is_mapped(); }
  // Whether Shoal opened a communicator here, which counts among those of the job.
  bool is_counted() const { return is_counted_; }
  // How many nodes the ranks are on. To be called only if there is a state.
  int nodes() const { return state_->all().where().nodes->nodes(); }
  // Who exchanges with whom in calls of this form; null if nobody needed it yet.
  neighborhood* among(call_form form) const { return state_ ? state_->among(form) : nullptr; }
  // The same, made on first use, once there is a state; collective. Null, on every rank, if the ranks can make no graph
  // of their neighbours; the standing then says why.
  neighborhood* make_among(call_form form) { return state_->make_among(form, whose_.comm, job_.set(), stands_.why); }
  const candidates& tried() const { return candidates_; }
  const investment& worth() const { return worth_; }

  // To be called by all ranks in the same call, where they wait for each other: returns the largest of each number.
  // Goes through memory if all ranks share some.
  std::vector<std::int64_t> agree(std::vector<std::int64_t> mine);

  // On the first rank, in the second round of a vote: makes memory for all and says where it is, or what went wrong.
  void offer(std::span<std::int64_t> said);
  // Maps the memory that was offered, if that pays; else drops it. `heard`: what the ranks said in that round.
  void take_offer(std::span<const std::int64_t> heard);
  void drop_offer() { offered_.drop(); }
  // write() says whether this rank could map the memory, and take_memory() hears what all ranks have said: if all
  // could, all have it now; if not, nobody has.
  void write(rank_terms& mine) const;
  void take_memory(std::int64_t error, bool unreadable);

  // Makes what Shoal needs, as the ranks have agreed; collective. Inside a node this only maps memory: the next
  // agreement takes it and makes the rest.
  void set_up(const agreed_terms& all);
  // The same, but memory is taken at once.
  void set_up_whole(const agreed_terms& all);
  // Makes more memory if exchanges have grown too large for what all ranks share already, and if that pays. If a rank
  // could not have more once, the ranks do not try again.
  void share_more(const agreed_terms& all);
  // Makes the state alone, for what is asked for. Returns false, on every rank, if the settings do not fit these ranks:
  // the standing then says so, and the MPI's own serves.
  bool make_state();
  // Also opens a communicator of Shoal's. If the MPI has none left, what serves through memory alone goes on without
  // it.
  void open_state();

  // Lets the field's contest try the candidates, if its exchanges fit into what is made: by the load that all ranks
  // know already, or by the load that they have agreed on.
  void open_if_known(exchange_field& f);
  void open_if_roomy(exchange_field& f, const agreed_terms& all);
  static void close(exchange_field& f);
  // Closes all fields for good; to be called on every rank.
  void close_all();
  // What a profile or earlier jobs tell about exchanges of a size that all ranks know.
  std::optional<knowledge::shape_times> expected(const exchange_field& f) const;

 private:
  void share(std::size_t most);
  void serve();
  bool has_room(double load) const;
  void open(exchange_field& f);

  job_state& job_;
  owner whose_;
  standing& stands_;
  agreements& agrees_;
  waiting& wait_;
  std::shared_ptr<communicator> state_;
  offered_memory offered_;
  investment worth_{job_, whose_.what, whose_.ranks, agrees_, offered_};
  candidates candidates_;
  bool is_counted_ = false, cannot_grow_ = false;
};

}  // namespace shoal
