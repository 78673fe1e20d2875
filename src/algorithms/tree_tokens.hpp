// Which messages of an exchange on a tree must wait for which others, so that no link is shared by too many messages.
//
// Source: AAPC on Ethernet switched clusters, section 5. Exact and near-linear reduction and windows are Shoal's own.
// Cost: candidates O(sum of path lengths); exact reduction O(ranks) more for every candidate kept; chain2 a few
// steps for each candidate.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "topology/rank_tree.hpp"

namespace shoal {

enum class reduction {
  exact,   // drops every wait that follows from other waits
  chain2,  // drops nearly all of these: looks two steps back
};

// "exact", "chain2", "none", or "auto": exact up to 256 ranks, chain2 above.
std::optional<reduction> parse_reduction(std::string_view word, int ranks);

// Message `after` waits until message `before` has arrived; both are positions in the list of messages.
struct synchronisation {
  std::int32_t before, after;
  bool operator==(const synchronisation&) const = default;
};

struct synchronisations {
  std::vector<synchronisation> kept;  // between messages of different senders
  std::vector<synchronisation> own;   // between messages of one sender
  std::int64_t candidates = 0;        // pairs of different senders, before the reduction
};

// `ordered` lists messages in the order in which they may use the links. On each edge of its path a message waits for
// the message that uses the edge window * streams places before it. So never more than window * streams messages share
// the edge.
synchronisations synchronise(const rank_tree& tree, std::span<const message> ordered, int window, reduction wanted);

// How many messages of a rank may be under way together in this window.
int sends_under_way(const rank_tree& tree, int rank, int window);

// How many pairs of messages of different senders share a directed edge. The published algorithm starts from these.
std::int64_t contending_pairs(const rank_tree& tree);

}  // namespace shoal
