// What moves one allgather between two groups: both directions together, each a schedule of its own.
#pragma once

#include <mpi.h>

#include <array>

#include "execute/exchange.hpp"
#include "transport/mpi_transport.hpp"

namespace shoal {

class group_exchange {
 public:
  // Of each direction, null: nothing moves in it, and it is left out.
  using programs = std::array<const program*, 2>;

  // `comm` has the ranks of both groups. `clock` may be null; both stay.
  group_exchange(MPI_Comm comm, phase_clock* clock) : clock_(clock), lines_{line(comm, clock), line(comm, clock)} {}

  // As those of exchange.
  void start(const programs& steps, const std::array<payload, 2>& what);
  bool progress(bool& moved);
  void run_to_end(waiting& wait);
  const std::exception_ptr& failure() const {
    const line& first = lines_[0].used && lines_[0].moves.failure() ? lines_[0] : lines_[1];
    return first.used ? first.moves.failure() : none_;
  }
  void set_tags(tag_range tags);

  // Of the last run, in a direction.
  const exchange_counters& counters(int direction) const { return lines_[direction].moves.counters(); }

 private:
  struct line {
    mpi_transport over;
    memory_pool pool;  // of its own: what an exchange keeps for its next run the other direction may not take
    exchange moves{pool, over};
    bool used = false;
    line(MPI_Comm comm, phase_clock* clock) : over(comm) { moves.record_phases(clock); }
  };

  phase_clock* clock_;
  std::array<line, 2> lines_;
  std::exception_ptr none_;
};

}  // namespace shoal
