// What moves one allgather between two groups: both directions together, each a schedule of its own.
#pragma once

#include <mpi.h>

#include <array>

#include "execute/exchange.hpp"
#include "execute/mpi_transport.hpp"

namespace shoal {

class group_exchange {
 public:
  // Of each direction, null: nothing moves in it, and it is left out.
  using programs = std::array<const program*, 2>;

  // `comm` has the ranks of both groups; `tags` are its own while it is under way. `clock` may be null; all stay.
  group_exchange(MPI_Comm comm, exchange::tag_range tags, phase_clock* clock)
      : clock_(clock), lines_{line(comm, half(tags, 0), clock), line(comm, half(tags, 1), clock)} {}

  // As exchange::start() and repeat().
  void start(const programs& how, const std::array<payload, 2>& what);
  void repeat(const std::array<payload, 2>& what);
  bool progress(bool& moved);
  void run_to_end(waiting& wait);

  // Of the last run, in a direction.
  const exchange_counters& counters(int direction) const { return lines_[direction].moves.counters(); }

 private:
  struct line {
    mpi_transport over;
    memory_pool pool;  // of its own: what an exchange keeps for its next run the other direction may not take
    exchange moves{pool, over};
    bool used = false;
    line(MPI_Comm comm, exchange::tag_range tags, phase_clock* clock) : over(comm) {
      moves.set_tags(tags);
      moves.record_phases(clock);
    }
  };
  static exchange::tag_range half(exchange::tag_range tags, int direction) {
    return {tags.first + direction * (tags.count / 2), tags.count / 2};
  }

  phase_clock* clock_;
  std::array<line, 2> lines_;
};

}  // namespace shoal
