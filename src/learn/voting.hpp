// When the ranks of a communicator vote on being served, and how long they wait for each other in that.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "learn/agreements.hpp"
#include "learn/exchange_fields.hpp"
#include "learn/job_state.hpp"
#include "learn/standing.hpp"
#include "learn/vote.hpp"
#include "team/served_groups.hpp"

namespace shoal {

class voting {
 public:
  // Seconds for which ranks with settings wait for others, which may have none.
  static constexpr double patience = 10;
  static constexpr const char* started_apart =
      "ranks that were started apart (MPI_Comm_spawn, MPI_Comm_connect) may not all have Shoal";

  // All but `ranks` outlives it.
  voting(job_state& job, MPI_Comm comm, int ranks, standing& stands, agreements& among, waiting& wait)
      : job_(job), comm_(comm), ranks_(ranks), stands_(stands), among_(among), vote_(comm, wait) {}

  // Before the first round. False, and they never do: some ranks have no Shoal, or settings of their own. `is_linked`: the
  // program calls Shoal itself, so all ranks have it.
  bool may_begin(bool is_linked);
  // In a call of this number, with what this rank says. `asked_by`: whose numbers are part of that; null: what is asked for
  // or known needs the vote at once.
  void begin(exchange_field* asked_by, std::vector<std::int64_t> mine, std::int64_t call);
  exchange_field* asked_by() const { return asked_by_; }

  // In every call while it lasts; and whether a round ends with this one.
  void look() { vote_.look(); }
  bool ends_at(std::int64_t call) const { return vote_.ends_at(call); }
  bool is_confirming() const { return vote_.is_confirming(); }
  // Ends the first round: whether all ranks' numbers are here, which are then what they have agreed on. `patiently`: all
  // should come, and are waited for.
  bool hear();
  bool hear_at_once(bool patiently);
  // The second round, with what this rank says in it.
  void confirm(bool has_heard_all, std::span<const std::int64_t> mine, std::int64_t call);
  // Ends that: whether every rank has heard all, and what was said. Else the MPI's own goes on serving, until they vote again.
  bool end();
  std::span<const std::int64_t> confirmed() const { return vote_.confirmed(); }
  // Where ranks could have gone on, all time that the end took this one is lost to the program.
  void note_end(double seconds);

  // As of vote.
  bool leave();

 private:
  double usual_wait() const;
  bool wait_for(double seconds);

  job_state& job_;
  MPI_Comm comm_;
  int ranks_;
  standing& stands_;
  agreements& among_;
  vote vote_;
  std::optional<served_groups::voting> seen_;  // by other communicators of these ranks
  exchange_field* asked_by_ = nullptr;
};

}  // namespace shoal
