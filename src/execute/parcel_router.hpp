// Takes parcels to their destinations by digits, as TuNA takes blocks, but with no place for those that there are not.
//
// A parcel for the rank d further on goes, for every digit of d in radix r from the lowest, that digit times its weight
// further. So a rank sends (r - 1) ceil(log_r P) messages, to the same ranks whatever there is to send, and when it has received
// as many it has heard of every rank, by some way. (The crystal router of Fox et al., 1988, is r = 2 on a hypercube.)
#pragma once

#include <cstdint>
#include <vector>

#include "execute/parcels.hpp"
#include "transport/failure.hpp"
#include "transport/transport.hpp"
#include "transport/waiting.hpp"

namespace shoal {

class parcel_router {
 public:
  // The transport and how to wait stay the caller's. It uses two tags from `tag` on. Radix at least 2, the same on every rank.
  parcel_router(transport& over, waiting& wait, int radix, int tag)
      : over_(over), wait_(wait), radix_(radix), tag_(tag) {}

  // `held` becomes what is for this rank, of one origin in the order in which that has sent it. Whether `failed` was
  // passed on any rank. Collective. Throws what failed in a transfer.
  bool deliver(parcels& held, bool failed);

 private:
  // What goes to one rank and comes from another in a round.
  struct lane {
    parcels out, in;
  };
  enum part { first_out, rest_out, first_in, rest_in, parts };

  void round(parcels& held, std::int64_t distance);
  void begin(int digit, std::int64_t distance);
  void finish();
  void ended(const ended_transfer& one);
  void first_arrived(lane& of, int ticket, std::size_t bytes);

  transport& over_;
  waiting& wait_;
  int radix_, tag_;
  bool failed_ = false;
  std::int64_t distance_ = 0;
  std::vector<lane> lanes_;
  std::vector<ended_transfer> ended_;
  int under_way_ = 0;
  first_failure failure_;
};

}  // namespace shoal
