// Checks schedules against the links of a network: the three conditions under which phases are optimal.
//
// Source: AAPC on Ethernet switched clusters, section 4. The checks use only the tree,
// not the way in which the phases were found.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "schedule/schedule.hpp"
#include "topology/rank_tree.hpp"

namespace shoal {

// The messages with blocks that the ranks send. The step of an operation is its phase. If blocks are cut into parts,
// only messages that begin with the first part of a block are listed.
std::vector<message> messages_of(std::span<const schedule> programs);

// Each of these returns the first fault as a sentence, or nothing.

// In some phase an edge carries more messages than its link has streams.
std::optional<std::string> find_contention(const rank_tree& tree, std::vector<message> messages);
// Some ordered pair of different ranks is missing or occurs twice.
std::optional<std::string> find_incompleteness(const rank_tree& tree, std::span<const message> messages);
// There are more phases than the most loaded link needs.
std::optional<std::string> find_excess(const rank_tree& tree, std::span<const message> messages);

}  // namespace shoal
