// How the ranks of a communicator agree once all of them are served by Shoal, how long that takes them, and what this rank
// spends on learning: the ranks tell each other these times whenever they agree.
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
  static constexpr double time_slice = 4e-3;  // of the system, where ranks share cores: seconds
  class payment;

  // `books` and `wait` outlive them.
  agreements(MPI_Comm comm, ledger& books, waiting& wait) : comm_(comm), books_(books), wait_(wait) {}
  agreements(const agreements&) = delete;
  agreements& operator=(const agreements&) = delete;

  // Of ranks that are in the same call: the largest numbers. `through`: the team of these ranks, which may have memory that
  // all of them share; null: there is none yet.
  std::vector<std::int64_t> agree(std::vector<std::int64_t> mine, team* through);
  // This rank has waited for the others so long, by a collective of the MPI's own. `apart`: seconds that the others needed to
  // come, though it did not wait for them.
  void note_wait(double seconds, double apart = 0);
  // Whether this rank need not wait for all others in the calls that are agreed on.
  void may_go_on(bool may) { may_go_on_ = may; }
  double last_wait() const { return waited_; }

  // What this rank says of its times. All that it has paid is told with that.
  rank_times times();
  // What all ranks have said of theirs.
  void hear(const agreed_terms& all);
  // And of a contest, which goes on by that. The ledger learns what its calls took more than the MPI's own.
  void hear(const agreed_terms& all, contest& of);
  // What a call of the MPI's own takes, the same on every rank: seconds.
  double native_call() const { return native_call_; }
  // What an agreement takes the rank that waits least: seconds.
  double shortest() const { return shortest_; }
  // Whether what ranks wait in one is lost to the program: its calls leave some far ahead of others.
  bool is_waiting_lost() const;
  // How long one delays the job: at most about as long as a call. Some ranks wait longer, for others that are late anyway, and
  // where ranks share cores the last one hardly waits. In calls that leave ranks ahead of others all that waiting is lost.
  double price() const;

 private:
  // The job pays what the rank has paid that paid least, and no longer what this one has, unless waiting is lost.
  void correct_books(const agreed_terms& all);

  MPI_Comm comm_;
  ledger& books_;
  waiting& wait_;
  double paid_ = 0, told_paid_ = 0;             // since this rank last told, and what it told since all last heard
  double waited_ = 0;                           // for the last agreement
  double shortest_ = contest::usual_agreement;  // that a rank waited for it
  double longest_ = contest::usual_agreement, native_call_ = 0;
  double call_ = 0;  // of what serves
  bool may_go_on_ = false;
  double loses_ = 0, lost_ = 0;  // this rank, and the rank that loses most, of the time in the last one
  double for_cores_ = 0;         // that a rank may have to wait until it runs
};

// Time that this rank spends on learning, for as long as this is there. Some of it is spent on waiting for others that are
// late anyway, so the job pays only what the rank that waited least has paid: the ranks hear of that when they agree the
// next time.
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
