// Slurm's topology.conf, and what scontrol show topology prints: one switch a line with its machines and the switches
// below it.
#include <algorithm>
#include <cctype>
#include <map>

#include "topology/host_list.hpp"
#include "topology/link_speed.hpp"
#include "topology/network_draft.hpp"
#include "topology/slurm_switches.hpp"
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

constexpr std::string_view known_keys[] = {"switchname", "nodes", "switches", "linkspeed", "level"};
constexpr const char* expected = "; expected SwitchName=, Nodes=, Switches= or LinkSpeed=";

// Reads words of the form key=value, and turns the keys into lower case.
std::map<std::string, std::string> read_keys(const network_draft& draft, std::string_view text) {
  std::map<std::string, std::string> values;
  for (std::string_view word : split_words(text)) {
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos || equals == 0 || equals + 1 == word.size())
      draft.fail("'" + std::string(word) + "' is not of the form key=value" + expected);
    if (!values.emplace(lower(word.substr(0, equals)), word.substr(equals + 1)).second)
      draft.fail(std::string(word.substr(0, equals)) + "= is given twice; expected each key once");
  }
  return values;
}

// Slurm does not define the unit. A number alone is taken as Gbit/s, as vendors name networks.
double read_speed(const network_draft& draft, const std::string& text) {
  const bool alone = text.find_first_not_of("0123456789.") == std::string::npos;
  const double speed = to_bits_per_second(alone ? text + "G" : text);
  if (speed == 0) draft.fail("LinkSpeed=" + text + " is not a speed; expected Gbit/s or a unit, such as 100 or 100G");
  return speed;
}

int read_level(const network_draft& draft, const std::string& text) {
  if (text.size() > 2 || text.find_first_not_of("0123456789") != std::string::npos)
    draft.fail("Level=" + text + " is not a level; expected a number below 100");
  return std::stoi(text);
}

slurm_switch read_switch(const network_draft& draft, const std::map<std::string, std::string>& values, int line) {
  for (const auto& [key, value] : values)
    if (std::find(std::begin(known_keys), std::end(known_keys), key) == std::end(known_keys))
      draft.fail("'" + key + "=' is unknown" + expected);
  const auto value_of = [&](const char* key) { return values.count(key) ? values.at(key) : std::string(); };
  if (!values.count("switchname")) draft.fail("no SwitchName=; expected SwitchName=NAME with Nodes= or Switches=");
  slurm_switch read{line, value_of("switchname"), value_of("nodes"), value_of("switches")};
  if (values.count("linkspeed")) read.speed = read_speed(draft, value_of("linkspeed"));
  if (values.count("level")) read.level = read_level(draft, value_of("level"));
  return read;
}

}  // namespace

switch_network parse_slurm(std::string_view text, const std::string& file) {
  network_draft draft(file);
  std::vector<slurm_switch> switches;
  for (const statement& s : split_statements(text)) {
    draft.at_line(s.line);
    const auto values = read_keys(draft, s.text);
    if (!values.empty()) switches.push_back(read_switch(draft, values, s.line));
  }
  return connect(draft, std::move(switches));
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
