#include "topology/network_draft.hpp"

#include <algorithm>
#include <stdexcept>

#include "topology/host_list.hpp"
#include "topology/topology_file.hpp"

namespace shoal {

namespace {

constexpr const char* blanks = " \t\r\v\f";
constexpr std::size_t most_nodes = 1 << 18;  // a file of a few ranges must not exhaust the memory

const char* kind_name(bool machine) { return machine ? "machine" : "switch"; }

// Names end up in the formats, in a shell, in C and on a terminal. So they may have no character with a meaning there.
bool is_name(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("._-:/@+").find(c) != std::string_view::npos;
  });
}

}  // namespace

std::vector<std::string_view> split_words(std::string_view text) {
  std::vector<std::string_view> words;
  for (std::size_t begin = text.find_first_not_of(blanks); begin != std::string_view::npos;) {
    const std::size_t end = std::min(text.find_first_of(blanks, begin), text.size());
    words.push_back(text.substr(begin, end - begin));
    begin = text.find_first_not_of(blanks, end);
  }
  return words;
}

void network_draft::fail(int line, const std::string& text) const { throw topology_error(file_, line, text); }

std::vector<std::string> network_draft::names(std::string_view list) const {
  if (list.empty()) return {};
  try {
    return expand_host_list(list);
  } catch (const std::invalid_argument& error) {
    fail(error.what());
  }
}

int network_draft::node(std::string_view name) {
  if (const auto found = by_name_.find(name); found != by_name_.end()) return found->second;
  if (!is_name(name)) fail("'" + std::string(name) + "' is not a name; expected letters, digits and ._-:/@+");
  if (nodes_.size() == most_nodes) fail("more than " + std::to_string(most_nodes) + " switches and machines");
  const int id = static_cast<int>(nodes_.size());
  nodes_.push_back({std::string(name), {}, line_, 0, {}});
  by_name_.emplace(nodes_.back().name, id);
  part_.push_back(id);
  return id;
}

void network_draft::declare(int id, bool machine) {
  draft_node& n = nodes_[id];
  if (n.machine && *n.machine != machine)
    fail(n.name + " is a " + kind_name(machine) + " here but a " + kind_name(*n.machine) + " in line " +
         std::to_string(n.declared) + "; a name is one or the other");
  if (machine && n.links.size() > 1)
    fail("machine " + n.name + " has links in lines " + std::to_string(link_lines_[n.links[0]]) + " and " +
         std::to_string(link_lines_[n.links[1]]) + "; a machine has exactly one");
  if (!n.machine) n.declared = line_;
  n.machine = machine;
}

int network_draft::top(int id) {
  while (part_[id] != id) id = part_[id] = part_[part_[id]];
  return id;
}

void network_draft::link(int a, int b, double bits_per_second) {
  if (a == b) fail("a link from " + nodes_[a].name + " to itself; expected two different names");
  if (top(a) == top(b)) refuse_cycle(a, b);
  for (int end : {a, b})
    if (nodes_[end].machine.value_or(false) && !nodes_[end].links.empty())
      fail("machine " + nodes_[end].name + " already has a link in line " +
           std::to_string(link_lines_[nodes_[end].links[0]]) + "; a machine has exactly one");
  part_[top(a)] = top(b);
  for (int end : {a, b}) nodes_[end].links.push_back(static_cast<int>(links_.size()));
  links_.push_back({a, b, bits_per_second});
  link_lines_.push_back(line_);
}

void network_draft::refuse_cycle(int a, int b) const {
  const std::string here = nodes_[a].name + " - " + nodes_[b].name;
  const std::vector<int> way = route(a, b);
  if (way.size() == 2) {
    const auto& known = nodes_[a].links;
    const auto first =
        std::find_if(known.begin(), known.end(), [&](int l) { return links_[l].a == b || links_[l].b == b; });
    fail("the link " + here + " is already in line " + std::to_string(link_lines_[*first]) +
         "; expected each link once, with the bandwidth of all its cables");
  }
  std::string text = nodes_[way[0]].name;
  for (std::size_t i = 1; i < way.size(); ++i) text += " - " + nodes_[way[i]].name;
  fail("the link " + here + " closes a cycle with " + text + "; expected a tree, with one path between any two nodes");
}

// The nodes on the path between two nodes of one part.
std::vector<int> network_draft::route(int from, int to) const {
  std::vector<int> came_from(nodes_.size(), -1), todo{to};
  came_from[to] = to;
  while (came_from[from] < 0) {
    const int at = todo.back();
    todo.pop_back();
    for (int l : nodes_[at].links) {
      const int next = links_[l].a == at ? links_[l].b : links_[l].a;
      if (came_from[next] >= 0) continue;
      came_from[next] = at;
      todo.push_back(next);
    }
  }
  std::vector<int> way{from};
  while (way.back() != to) way.push_back(came_from[way.back()]);
  return way;
}

void network_draft::require_connected() const {
  if (links_.size() + 1 >= nodes_.size()) return;
  std::vector<char> seen(nodes_.size(), 0);
  std::vector<int> todo{0};
  seen[0] = 1;
  while (!todo.empty()) {
    const int at = todo.back();
    todo.pop_back();
    for (int l : nodes_[at].links)
      for (int next : {links_[l].a, links_[l].b})
        if (!std::exchange(seen[next], 1)) todo.push_back(next);
  }
  const std::size_t lost = std::find(seen.begin(), seen.end(), 0) - seen.begin();
  fail(nodes_[lost].line,
       nodes_[lost].name + " is not connected to " + nodes_[0].name + "; expected a path between any two nodes");
}

switch_network network_draft::finish() {
  if (nodes_.empty()) fail(0, "no switch and no machine; expected lines such as SwitchName=s0 Nodes=n[0-7]");
  require_connected();
  std::vector<network_node> nodes;
  for (const draft_node& n : nodes_) nodes.push_back({n.name, n.machine.value_or(n.links.size() < 2)});
  return {std::move(nodes), links_};
}

}  // namespace shoal
