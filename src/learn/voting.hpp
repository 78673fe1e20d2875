// When the ranks of a communicator vote on whether Shoal serves them, and how long they wait for each other in the
// vote.
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
  // Seconds for which ranks with settings wait for others, which may have none and never vote.
  static constexpr double patience = 10;

  // All arguments but `ranks` must outlive this.
  voting(job_state& job, MPI_Comm comm, int ranks, standing& stands, agreements& among, waiting& wait)
      : job_(job), comm_(comm), ranks_(ranks), stands_(stands), among_(among), vote_(comm, wait) {}

  // To be called before the first round. Returns false if the ranks must never vote: some of them lack Shoal, or have
  // other settings. `is_linked`: the program calls Shoal itself, so all ranks have it.
  bool may_begin(bool is_linked);
  // Begins the vote in a call of this number, with what this rank says. `wanted_by`: the field whose numbers are part of
  // that; null if the ranks have to vote at once, because of what is asked for or known.
  void begin(exchange_field* wanted_by, std::vector<std::int64_t> mine, std::int64_t call);
  exchange_field* wanted_by() const { return wanted_by_; }

  // look() is to be called in every call while the vote lasts. ends_at(): whether a round ends with this call.
  void look() { vote_.look(); }
  bool ends_at(std::int64_t call) const { return vote_.ends_at(call); }
  bool is_confirming() const { return vote_.is_confirming(); }
  // Both end the first round, and return whether the numbers of all ranks are here. If so, these are what the ranks
  // have agreed on. hear() waits for ranks that have voted before, unless this rank runs far ahead of them; it returns
  // false then. `patiently`: all ranks should come, so this one waits for them.
  bool hear();
  bool hear_at_once(bool patiently);
  // Begins the second round, with what this rank says in it.
  void confirm(bool has_heard_all, std::span<const std::int64_t> mine, std::int64_t call);
  // Ends the second round, and returns whether every rank has heard all. If so, confirmed() is what the ranks have said
  // in it. If not, the MPI's own goes on serving until they vote again.
  bool end();
  std::span<const std::int64_t> confirmed() const { return vote_.confirmed(); }
  // Notes how long the end of the vote took this rank. If it could have gone on instead, all that time is lost to the
  // program.
  void note_end(double seconds);

  // To be called in the calls after a vote that failed, while it returns false: looks whether the vote has ended on all
  // ranks. `last`: this rank looks no more.
  bool look_back(bool last);

  // As those of the vote.
  bool let_go();
  void leave();

 private:
  void stop();
  double usual_wait() const;
  double crowding() const;
  bool are_far_apart(const agreed_terms& all) const;
  bool may_run_ahead() const;
  double longest_wait() const;
  bool wait_for(double seconds);

  job_state& job_;
  MPI_Comm comm_;
  int ranks_;
  standing& stands_;
  agreements& among_;
  vote vote_;
  std::optional<served_groups::voting> seen_;  // lets other communicators of these ranks see that a vote is under way
  exchange_field* wanted_by_ = nullptr;
};

}  // namespace shoal
