#include "topology/link_checker.hpp"

#include <algorithm>

namespace shoal {

namespace {

std::string name(const message& m) { return std::to_string(m.from) + " -> " + std::to_string(m.to); }

}  // namespace

std::vector<message> messages_of(std::span<const schedule> programs) {
  std::vector<message> messages;
  for (const schedule& program : programs)
    for (const operation& op : program.operations)
      if (op.kind == op_kind::send && op.slot_count > 0 && program.slots_of(op)[0].index % program.parts == 0)
        messages.push_back({op.step, program.rank, op.peer});
  return messages;
}

std::optional<std::string> find_contention(const rank_tree& tree, std::vector<message> messages) {
  std::stable_sort(messages.begin(), messages.end(),
                   [](const message& a, const message& b) { return a.phase < b.phase; });
  struct use {
    std::int32_t phase = -1, count = 0;
  };
  std::vector<use> uses(tree.edges());
  for (const message& m : messages) {
    int full = -1;
    tree.path(m.from, m.to, [&](int edge) {
      use& u = uses[edge];
      if (u.phase != m.phase) u = {m.phase, 0};
      if (++u.count > tree.streams(link_of(edge))) full = edge;
    });
    if (full >= 0)
      return "phase " + std::to_string(m.phase) + ": message " + name(m) +
             " finds all streams of the link above node " + std::to_string(link_of(full)) + " taken";
  }
  return std::nullopt;
}

std::optional<std::string> find_incompleteness(const rank_tree& tree, std::span<const message> messages) {
  std::vector<char> seen(static_cast<std::size_t>(tree.ranks()) * tree.ranks(), 0);
  for (const message& m : messages) {
    if (m.from == m.to) return "message " + name(m) + " goes from a rank to itself";
    char& pair = seen[static_cast<std::size_t>(m.from) * tree.ranks() + m.to];
    if (pair) return "message " + name(m) + " occurs twice";
    pair = 1;
  }
  const std::int64_t all = std::int64_t{tree.ranks()} * (tree.ranks() - 1);
  if (tree.ranks() > 0 && static_cast<std::int64_t>(messages.size()) < all)
    return std::to_string(messages.size()) + " of " + std::to_string(all) + " messages occur";
  return std::nullopt;
}

std::optional<std::string> find_excess(const rank_tree& tree, std::span<const message> messages) {
  std::int64_t phases = 0;
  for (const message& m : messages) phases = std::max<std::int64_t>(phases, m.phase + 1);
  const std::int64_t bound = uniform_bound(tree).phases;
  if (phases <= bound) return std::nullopt;
  return std::to_string(phases) + " phases where the most loaded link needs " + std::to_string(bound);
}

}  // namespace shoal
