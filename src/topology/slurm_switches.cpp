#include "topology/slurm_switches.hpp"

#include <algorithm>
#include <map>

namespace shoal {

namespace {

void describe(network_draft& draft, const slurm_switch& described, std::map<std::string, int>& lines) {
  const int node = draft.node(described.name);
  draft.declare(node, false);
  if (const auto [earlier, first] = lines.emplace(described.name, described.line); !first)
    draft.fail("switch " + described.name + " is already described in line " + std::to_string(earlier->second) +
               "; expected each switch once");
  for (const std::string& name : draft.names(described.nodes)) {
    const int machine = draft.node(name);
    if (described.level > 0 && draft.is_linked(machine)) continue;
    draft.declare(machine, true);
    draft.link(node, machine, described.speed);
  }
  for (const std::string& name : draft.names(described.switches)) {
    const int below = draft.node(name);
    draft.declare(below, false);
    draft.link(node, below, described.speed);
  }
}

}  // namespace

switch_network connect(network_draft& draft, std::vector<slurm_switch> switches) {
  std::stable_sort(switches.begin(), switches.end(), [](auto& a, auto& b) { return a.level < b.level; });
  std::map<std::string, int> lines;
  for (const slurm_switch& one : switches) {
    draft.at_line(one.line);
    describe(draft, one, lines);
  }
  for (const slurm_switch& one : switches) {
    draft.at_line(one.line);
    for (const std::string& name : draft.names(one.switches))
      if (!lines.count(name)) draft.fail("switch " + name + " is described nowhere; expected a line for each switch");
  }
  return draft.finish();
}

}  // namespace shoal
