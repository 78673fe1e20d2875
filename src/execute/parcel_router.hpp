// Takes parcels to their destinations by digits, as TuNA takes blocks, but with no place for those that there are not.
//
// A parcel for the rank d further on goes, for every digit of d in radix r from the lowest, that digit times its weight
// further. So a rank sends (r - 1) ceil(log_r P) messages, to the same ranks whatever there is to send, and when it has received
// as many it has heard of every rank, by some way. (The crystal router of Fox et al., 1988, is r = 2 on a hypercube.)
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
  // The transport stays the caller's. It uses two tags from `tag` on. Radix at least 2, the same on every rank.
  parcel_router(transport& over, int radix, int tag) : over_(over), radix_(radix), tag_(tag) {}

  // Begins a delivery; `refused`: nobody shall deliver anything else. Collective; one at a time.
  void start(parcels held, bool refused);
  // Moves it on; whether it has ended. Nothing else is under way on the transport.
  bool progress(bool& moved);
  // Of a transfer of this rank, or, as far as it hears of that, of another's, so that parcels may be lost; or null.
  const std::exception_ptr& failure() const { return failure_.what(); }

  // Whether a transfer was: then there can be no other delivery.
  bool abandoned() const { return abandoned_; }

  // Behind its end, once: what is for this rank, of one origin in the order in which that has sent it.
  parcels take() { return std::move(held_); }
  // Whether some rank did: every rank hears of it, unless a transfer has failed too.
  bool refused() const { return told_ & refusal; }

 private:
  // What goes to one rank and comes from another in a round.
  struct lane {
    parcels out, in;
  };
  enum part { first_out, rest_out, first_in, rest_in, parts };
  // What ranks tell each other beside the parcels. Not all hear of a failed transfer, so it keeps nobody from sending what
  // others wait for.
  enum news : std::uint64_t { nothing = 0, refusal = 1, loss = 2 };

  void begin_round();
  void end_round();
  void begin(int digit, std::int64_t distance);
  void ended(const ended_transfer& one);
  void first_arrived(lane& of, int ticket, std::size_t bytes);

  transport& over_;
  int radix_, tag_;
  parcels held_{0};
  std::uint64_t told_ = 0;  // news, its own too
  std::int64_t distance_ = 0;
  std::vector<lane> lanes_;
  std::vector<ended_transfer> ended_;
  int under_way_ = 0;
  bool abandoned_ = false;
  first_failure failure_;
};

}  // namespace shoal
