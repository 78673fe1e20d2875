// Picks the schedule for one allgather between two groups, the same on every rank.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "model/intergroup.hpp"
#include "select/choose.hpp"

namespace shoal {

// Seconds of one direction alone, the slowest rank's, with messages of small and of large bytes: the MPI's own
// collective and the plain schedule of the network.
struct measured_direction {
  static constexpr std::int64_t small = 8;
  std::int64_t large = 65536;
  double native_small = 0, native_large = 0;
  double plain_small = 0, plain_large = 0;
};

// One direction of a call that has something to send.
struct group_flow {
  int senders = 1, receivers = 1;
  double bytes = 0;  // of the largest message
  std::optional<measured_direction> measured;

  problem groups() const;
};

// The parameters with which the model says what was measured. Without measurements: those of a common network.
link_cost link_of(const group_flow& flow, std::string_view network);

// One schedule for all flows of a call, which are under way together. Throws std::invalid_argument where the network
// does not fit the groups.
choice choose_between_groups(std::span<const group_flow> flows, std::string_view network);

}  // namespace shoal
