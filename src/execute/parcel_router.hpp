// Takes parcels to their destinations by digits, as TuNA takes blocks, but keeps no place for blocks that do not exist.
//
// A parcel for the rank that is d further on moves once for every digit of d in radix r, the lowest first: by that
// digit times its weight. So a rank sends at most (r - 1) ceil(log_r P) messages, to the same ranks whatever there is
// to send. When it has received as many, it has heard from every rank, directly or through others. (The crystal router
// of Fox et al., 1988, is r = 2 on a hypercube.)
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "execute/parcels.hpp"
#include "transport/failure.hpp"
#include "transport/transport.hpp"

namespace shoal {

class parcel_router {
 public:
  // The transport must outlive the router, which uses two tags, from `tag` on. The radix is at least 2, and the same on
  // every rank.
  parcel_router(transport& over, int radix, int tag) : over_(over), radix_(radix), tag_(tag) {}

  // Begins a delivery. Collective; one at a time. `refused`: this rank refuses the exchange that the parcels announce,
  // and all ranks are to hear of it.
  void start(parcels held, bool refused);
  // Moves the delivery on; returns whether it has ended. Nothing else may be under way on the transport.
  bool progress(bool& moved);
  // The failure of a transfer of this rank, or of another rank's if this rank hears of it; null if there was none.
  // Parcels may be lost then.
  const std::exception_ptr& failure() const { return failure_.what(); }

  // To be called once, after the delivery has ended: the parcels for this rank. Those of one origin are in the order in
  // which that rank sent them.
  parcels take() { return std::move(held_); }
  // Whether some rank refused: every rank hears of it, unless a transfer has failed too.
  bool refused() const { return news_ & refusal; }

 private:
  // What goes to one rank and comes from another in a round.
  struct lane {
    parcels out, in;
  };
  enum part { first_out, rest_out, first_in, rest_in, parts };
  // What ranks tell each other beside the parcels. Not all ranks hear of a failed transfer. So a rank that hears of one
  // still sends what others wait for.
  enum news : std::uint64_t { nothing = 0, refusal = 1, loss = 2 };

  void begin_round();
  void end_round();
  void begin(int digit, std::int64_t distance);
  void ended(const ended_transfer& one);
  void first_arrived(lane& of, int ticket, std::size_t bytes);

  transport& over_;
  int radix_, tag_;
  parcels held_{0};
  std::uint64_t news_ = 0;  // all news so far, this rank's own too
  std::int64_t distance_ = 0;
  std::vector<lane> lanes_;
  std::vector<ended_transfer> ended_;
  int under_way_ = 0;
  bool abandoned_ = false;  // some transfer was: the MPI may still use the memory of its round
  first_failure failure_;
};

}  // namespace shoal
