// Slurm's topology.yaml: several topologies. One that is a tree is a list of switches. Of YAML this reads only what
// such a list needs: lines "- key: value" and "key: value".
#include <algorithm>
#include <optional>

#include "topology/network_draft.hpp"
#include "topology/slurm_switches.hpp"
#include "topology/topology_file.hpp"

namespace shoal {

namespace {

struct yaml_topology {
  int line;
  std::string name, kind;  // tree, block or flat; empty: not said yet
  bool is_default = false;
  std::vector<slurm_switch> switches;
};

struct yaml_line {
  std::string key, value;
};

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

std::string_view without_comment(std::string_view line) {
  for (std::size_t at = line.find('#'); at != std::string_view::npos; at = line.find('#', at + 1))
    if (at == 0 || line[at - 1] == ' ' || line[at - 1] == '\t') return line.substr(0, at);
  return line;
}

std::string_view without_quotes(std::string_view value) {
  const bool quoted = value.size() > 1 && value.front() == value.back() && (value[0] == '"' || value[0] == '\'');
  return quoted ? value.substr(1, value.size() - 2) : value;
}

// Returns nothing for a line without content.
std::optional<yaml_line> read_line(const network_draft& draft, std::string_view line) {
  std::string_view text = trimmed(without_comment(line));
  if (text.empty() || text == "---" || text == "...") return std::nullopt;
  if (text.starts_with("- ")) text = trimmed(text.substr(2));
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos || colon == 0 || (colon + 1 < text.size() && text[colon + 1] != ' '))
    draft.fail("'" + std::string(text) + "' is not of the form key: value; expected switch:, nodes: or children:");
  return yaml_line{std::string(text.substr(0, colon)), std::string(without_quotes(trimmed(text.substr(colon + 1))))};
}

class yaml_reader {
 public:
  explicit yaml_reader(const std::string& file) : draft_(file) {}

  void take(int number, std::string_view text) {
    draft_.at_line(number);
    if (is_of_another_kind() && text.find("topology:") == text.npos && text.find("cluster_default:") == text.npos)
      return;
    const auto line = read_line(draft_, text);
    if (!line) return;
    if (line->key == "topology") return topologies_.push_back({number, line->value, {}, false, {}});
    if (topologies_.empty()) draft_.fail("no topology: before " + line->key + ":; expected - topology: NAME");
    if (line->key == "cluster_default") topologies_.back().is_default = line->value == "true";
    else if (line->key == "tree" || line->key == "block" || line->key == "flat") topologies_.back().kind = line->key;
    else if (topologies_.back().kind == "tree") take_of_tree(number, *line);
    else draft_.fail("'" + line->key + ":' is unknown; expected tree:");
  }

  // The network of the topology that Slurm takes if none is named, or else of the first that is a tree.
  switch_network finish() {
    if (topologies_.empty()) return draft_.finish();
    const auto is_default = [](const yaml_topology& one) { return one.is_default; };
    const auto is_tree = [](const yaml_topology& one) { return one.kind == "tree"; };
    auto chosen = std::find_if(topologies_.begin(), topologies_.end(), is_default);
    if (chosen == topologies_.end()) chosen = std::find_if(topologies_.begin(), topologies_.end(), is_tree);
    if (chosen == topologies_.end()) chosen = topologies_.begin();
    draft_.at_line(chosen->line);
    if (chosen->kind != "tree") draft_.fail("topology " + chosen->name + " is not a tree of switches; expected tree:");
    return connect(draft_, std::move(chosen->switches));
  }

 private:
  // Whether the current topology is no tree. Then its lines have other forms, and are skipped.
  bool is_of_another_kind() const {
    return !topologies_.empty() && !topologies_.back().kind.empty() && topologies_.back().kind != "tree";
  }

  void take_of_tree(int number, const yaml_line& line) {
    auto& switches = topologies_.back().switches;
    if (line.key == "switches" && line.value.empty()) return;
    if (line.key == "switch") return switches.push_back({number, line.value, {}, {}});
    std::string* const list = switches.empty()         ? nullptr
                              : line.key == "nodes"    ? &switches.back().nodes
                              : line.key == "children" ? &switches.back().switches
                                                       : nullptr;
    if (!list) draft_.fail("'" + line.key + ":' is unknown; expected switch:, nodes: or children:");
    if (!list->empty()) draft_.fail(line.key + ": is given twice; expected each key once");
    *list = line.value;
  }

  network_draft draft_;
  std::vector<yaml_topology> topologies_;
};

}  // namespace

switch_network parse_slurm_yaml(std::string_view text, const std::string& file) {
  yaml_reader reader(file);
  int number = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    reader.take(++number, text.substr(begin, end - begin));
    begin = end + 1;
  }
  return reader.finish();
}

}  // namespace shoal
