#include "algorithms/relabelling.hpp"

namespace shoal {

std::optional<relabelling> relabelling_of(const selection& chosen, const problem& at, int rank) {
  const auto members = chosen.which->alike ? chosen.which->alike(at, chosen.with) : std::nullopt;
  return members ? std::optional(relabelling(*members, rank)) : std::nullopt;
}

schedule relabelled(schedule all, const relabelling& names) {
  all.rank = names(0);
  for (operation& op : all.operations)
    if (op.kind != op_kind::copy) op.peer = names(op.peer);
  for (slot& s : all.slots)
    if (s.at() != place::temp)
      s = make_slot(s.at(),
                    names(static_cast<int>(s.index) / all.parts) * all.parts + static_cast<int>(s.index) % all.parts,
                    s.passing);
  return all;
}

}  // namespace shoal
