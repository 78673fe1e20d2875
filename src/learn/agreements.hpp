// How the ranks of a communicator agree once they know that Shoal serves all of them, how long an agreement takes, and
// what this rank spends on learning. The ranks tell each other these times in every agreement.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

#include "learn/rank_terms.hpp"
#include "select/contest.hpp"
#include "select/ledger.hpp"
#include "team/team.hpp"
#include "transport/waiting.hpp"

namespace shoal {

class agreements {
 public:
  static constexpr double time_slice = 4e-3;  // seconds that a rank may run before the system gives its core to another
  class payment;

  // `books` and `wait` must outlive this.
  agreements(MPI_Comm comm, ledger& books, waiting& wait) : comm_(comm), books_(books), wait_(wait) {}
  agreements(const agreements&) = delete;
  agreements& operator=(const agreements&) = delete;

  // To be called by all ranks in the same call: returns the largest of each number. `through` is the team of these
  // ranks, which may have memory that all of them share; null if there is no team yet.
  std::vector<std::int64_t> agree(std::vector<std::int64_t> mine, team* through);
  // Notes that this rank has waited `seconds` for the others in an agreement by a collective of the MPI's own. `apart`:
  // seconds until the others had come too, even if this rank did not wait for them.
  void note_wait(double seconds, double apart = 0);
  // Says whether this rank could go on without waiting for all others in the calls that are agreed on.
  void may_go_on(bool may) { may_go_on_ = may; }
  double last_wait() const { return waited_; }

  // The times that this rank tells the others. From then on all that it has paid so far counts as told.
  rank_times times();
  // Takes in the times that all ranks have told.
  void hear(const agreed_terms& all);
  // The same, and passes what the ranks agreed on to a contest, which decides by it. The ledger then learns how much
  // more or less the contest's calls took than the MPI's own would have taken. `sharing`: how many of these ranks share a
  // core. Each of them takes its part in an agreement, and times calls before it.
  void hear(const agreed_terms& all, contest& of, int sharing);
  // Seconds of a call that the MPI's own serves; the same on every rank.
  double native_call() const { return native_call_; }
  // Seconds that an agreement takes on the rank that waits least.
  double shortest() const { return shortest_; }
  // Whether the program loses the time that ranks wait in an agreement, because its calls leave some ranks far ahead of
  // others.
  bool is_waiting_lost() const;
  // Seconds by which an agreement delays the job, usually at most about as long as a call. Some ranks wait longer, but
  // for others that are late anyway; and if ranks share cores, the last rank hardly waits. If calls leave some ranks
  // ahead of others, all that waiting is lost.
  double price() const;

 private:
  // Charges the job what the rank that paid least has paid, instead of what this rank has told, unless waiting is lost.
  void correct_books(const agreed_terms& all);

  MPI_Comm comm_;
  ledger& books_;
  waiting& wait_;
  double paid_ = 0,
         reported_paid_ = 0;  // seconds that this rank paid since it last told, and told since all last heard
  double waited_ = 0;         // seconds, for the last agreement
  double shortest_ = contest::usual_agreement;  // that the rank which waited least waited for it
  double longest_ = contest::usual_agreement, native_call_ = 0;
  double call_ = 0;  // of the candidate that serves
  bool may_go_on_ = false;
  double own_loss_ = 0, largest_loss_ = 0;  // of the last agreement, by this rank and by the rank that loses most
  double for_cores_ = 0;                    // that a rank may have to wait for its core
};

// Charges the ledger with the time that this rank spends on learning while the object lives. For part of that time the
// rank waits for others that are late anyway, so in the end the job pays only what the rank that waited least has paid.
// The ranks hear how much that is in their next agreement.
class agreements::payment {
 public:
  explicit payment(agreements& of) : of_(of), begin_(PMPI_Wtime()) {}
  ~payment() {
    const double seconds = PMPI_Wtime() - begin_;
    of_.books_.spend(seconds);
    of_.paid_ += seconds;
  }
  payment(const payment&) = delete;
  payment& operator=(const payment&) = delete;

 private:
  agreements& of_;
  double begin_;
};

}  // namespace shoal
