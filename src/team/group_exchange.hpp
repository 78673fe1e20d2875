// Runs one allgather between two groups: both directions together, each with a schedule of its own.
#pragma once

#include <array>

#include "execute/exchange.hpp"
#include "team/team.hpp"
#include "transport/mpi_transport.hpp"

namespace shoal {

class group_exchange {
 public:
  // The schedule of each direction. Null means that nothing moves in this direction, and it is left out.
  using both_ways = std::array<const linked_schedule*, 2>;

  // `ranks` are those of both groups. `clock` may be null. Both stay the caller's.
  group_exchange(team& ranks, phase_clock* clock)
      : clock_(clock), lines_{line(ranks.messages(), clock), line(ranks.messages(), clock)} {}

  // As the functions of class exchange.
  void start(const both_ways& steps, const std::array<payload, 2>& what);
  bool progress(bool& moved);
  void run_to_end(waiting& wait);
  const std::exception_ptr& failure() const {
    const line& first = lines_[0].used && lines_[0].moves.failure() ? lines_[0] : lines_[1];
    return first.used ? first.moves.failure() : none_;
  }
  void set_tags(tag_range tags);

  // What the last run sent in this direction.
  const exchange_counters& counters(int direction) const { return lines_[direction].moves.counters(); }

 private:
  struct line {
    mpi_transport over;
    memory_pool pool;  // not shared: the other direction may not take what an exchange keeps for its next run
    exchange moves{pool, over};
    bool used = false;
    line(const mpi_transport& beside, phase_clock* clock) : over(beside.another()) { moves.record_phases(clock); }
  };

  phase_clock* clock_;
  std::array<line, 2> lines_;
  std::exception_ptr none_;
};

}  // namespace shoal
