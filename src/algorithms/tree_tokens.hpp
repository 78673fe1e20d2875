// Which messages of an exchange on a tree must wait for which others so that links are not shared by more messages
// than they should.
//
// Source: AAPC on Ethernet switched clusters, section 5. Exact and near-linear reduction and windows are Shoal's own.
// Cost: candidates O(sum of path lengths); exact reduction O(ranks) more for every candidate kept; chain2 a few
// steps a candidate.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "topology/rank_tree.hpp"

namespace shoal {

enum class reduction {
  exact,   // a message that is reached through others is not waited for
  chain2,  // nearly so: looks two steps back
};

// "exact", "chain2", "none", or "auto": exact up to 256 ranks, chain2 above.
std::optional<reduction> parse_reduction(std::string_view word, int ranks);

// Message `after` waits until message `before` has arrived; both are positions in the list of messages.
struct synchronisation {
  std::int32_t before, after;
  bool operator==(const synchronisation&) const = default;
};

struct synchronisations {
  std::vector<synchronisation> kept;  // of different senders: each costs a token
  std::vector<synchronisation> own;   // of one sender, which sees to them itself
  std::int64_t candidates = 0;        // pairs of different senders before reduction
};

// `ordered` lists messages in the order in which they may use the links. A message waits for the user of each edge of
// its path that is window * streams places before it, so that never more than that many share the edge.
synchronisations synchronise(const rank_tree& tree, std::span<const message> ordered, int window, reduction how);

// How many messages of a rank the window lets be under way together.
int sends_under_way(const rank_tree& tree, int rank, int window);

// Pairs of messages of different senders that share a directed edge: what the published algorithm starts from.
std::int64_t contending_pairs(const rank_tree& tree);

}  // namespace shoal
