// Picks the schedule for an allgather between two groups, the same on every rank.
#pragma once

#include <span>
#include <string_view>

#include "model/intergroup.hpp"
#include "select/choose.hpp"

namespace shoal {

inline constexpr link_cost common_link{20e-6, 1e-9};  // assumed, because nothing is measured

// One direction of a call that has something to send.
struct group_flow {
  problem groups;
  double bytes = 0;  // of the largest message
};

// Picks one schedule for all flows of a call, which are under way together. Throws std::invalid_argument if the network
// does not fit the groups.
choice choose_between_groups(std::span<const group_flow> flows, std::string_view network);

}  // namespace shoal
