// Slurm's topology.conf: one switch a line with its machines and the switches below it.
#include <algorithm>
#include <cctype>
#include <map>

#include "topology/host_list.hpp"
#include "topology/network_draft.hpp"
#include "topology/topology_file.hpp"

namespace shoal {

namespace {

// A statement over one or more lines, and the number of its first line.
struct statement {
  int line;
  std::string text;
};

bool continues(std::string_view line) {
  while (!line.empty() && (line.back() == ' ' || line.back() == '\t' || line.back() == '\r')) line.remove_suffix(1);
  return !line.empty() && line.back() == '\\';
}

std::vector<statement> split_statements(std::string_view text) {
  std::vector<statement> statements;
  int line = 0;
  bool open = false;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string_view part = text.substr(begin, end - begin);
    part = part.substr(0, part.find('#'));
    ++line;
    if (!open) statements.push_back({line, ""});
    open = continues(part);
    statements.back().text += std::string(open ? part.substr(0, part.rfind('\\')) : part) + " ";
    begin = end + 1;
  }
  return statements;
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

// key=value words, keys in lower case.
std::map<std::string, std::string> read_keys(const network_draft& draft, std::string_view text) {
  std::map<std::string, std::string> values;
  for (std::string_view word : split_words(text)) {
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos || equals == 0 || equals + 1 == word.size())
      draft.fail("'" + std::string(word) + "' is not of the form key=value; expected SwitchName=, Nodes= or Switches=");
    if (!values.emplace(lower(word.substr(0, equals)), word.substr(equals + 1)).second)
      draft.fail(std::string(word.substr(0, equals)) + "= is given twice; expected each key once");
  }
  return values;
}

void add_children(network_draft& draft, int parent, const std::string& list, bool machines) {
  for (const std::string& name : draft.names(list)) {
    const int child = draft.node(name);
    draft.declare(child, machines);
    draft.link(parent, child, standard_link_speed);
  }
}

void add_switch(network_draft& draft, const std::string& text, std::map<std::string, int>& described, int line) {
  const auto values = read_keys(draft, text);
  if (values.empty()) return;
  if (!values.count("switchname")) draft.fail("no SwitchName=; expected SwitchName=NAME with Nodes= or Switches=");
  const std::string& name = values.at("switchname");
  const int node = draft.node(name);
  draft.declare(node, false);
  if (const auto [earlier, first] = described.emplace(name, line); !first)
    draft.fail("switch " + name + " is already described in line " + std::to_string(earlier->second) +
               "; expected one line per switch");
  if (values.count("nodes")) add_children(draft, node, values.at("nodes"), true);
  if (values.count("switches")) add_children(draft, node, values.at("switches"), false);
}

}  // namespace

switch_network parse_slurm(std::string_view text, const std::string& file) {
  network_draft draft(file);
  std::map<std::string, int> described;
  for (const statement& s : split_statements(text)) {
    draft.at_line(s.line);
    add_switch(draft, s.text, described, s.line);
  }
  return draft.finish();
}

std::string to_slurm(const switch_network& network) {
  const auto& nodes = network.nodes();
  const auto is_machine = [&](int node) { return nodes[node].machine; };
  if (std::all_of(nodes.begin(), nodes.end(), [](const network_node& n) { return n.machine; }))
    throw std::invalid_argument("Slurm has no way to write machines without a switch");
  std::vector<std::vector<int>> machines(nodes.size()), switches(nodes.size());  // linked to each switch
  for (const network_link& link : network.links()) {
    if (is_machine(link.b)) machines[link.a].push_back(link.b);
    else if (is_machine(link.a)) machines[link.b].push_back(link.a);
    else switches[link.a].push_back(link.b);
  }
  std::string text;
  for (std::size_t node = 0; node < nodes.size(); ++node) {
    if (is_machine(static_cast<int>(node))) continue;
    text += "SwitchName=" + nodes[node].name;
    if (!machines[node].empty()) text += " Nodes=" + fold_host_list(network.names_of(machines[node]));
    if (!switches[node].empty()) text += " Switches=" + fold_host_list(network.names_of(switches[node]));
    text += '\n';
  }
  return text;
}

}  // namespace shoal
