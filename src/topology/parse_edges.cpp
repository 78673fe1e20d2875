// The edge list: "a b [bandwidth]", "switch NAME...", "machine NAME...".
#include <charconv>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "topology/host_list.hpp"
#include "topology/network_draft.hpp"
#include "topology/topology_file.hpp"

namespace shoal {

namespace {

// 100M, 2.5G, 1000000, 1Gbit: bits per second. Zero: not a bandwidth.
double to_bits_per_second(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
  if (error != std::errc()) return 0;
  std::string_view unit = text.substr(end - text.data());
  constexpr std::string_view bit = "bit";
  if (unit.size() >= bit.size() && unit.substr(unit.size() - bit.size()) == bit) unit.remove_suffix(bit.size());
  if (unit.size() > 1) return 0;
  const std::size_t power = unit.empty() ? 0 : std::string_view("kMGT").find(unit[0]) + 1;
  if (!unit.empty() && power == 0) return 0;  // npos + 1
  const double bits = value * std::pow(1000.0, static_cast<double>(power));
  return bits >= 1 && bits <= 1e18 ? bits : 0;
}

std::string from_bits_per_second(double bits) {
  static constexpr std::string_view units = "kMGT";
  std::size_t power = 0;
  while (power < units.size() && std::fmod(bits, 1000.0) == 0) bits /= 1000.0, ++power;
  char text[64];
  const auto end = std::to_chars(text, text + sizeof text, bits, std::chars_format::fixed).ptr;
  return std::string(text, end) + (power > 0 ? std::string(1, units[power - 1]) : "");
}

bool is_keyword(std::string_view word) { return word == "switch" || word == "machine"; }

void add_declaration(network_draft& draft, const std::vector<std::string_view>& words, bool machine) {
  if (words.size() < 2) draft.fail("no name behind '" + std::string(words[0]) + "'; expected names");
  for (std::size_t i = 1; i < words.size(); ++i)
    for (const std::string& name : draft.names(words[i])) draft.declare(draft.node(name), machine);
}

void add_links(network_draft& draft, const std::vector<std::string_view>& words) {
  if (words.size() < 2 || words.size() > 3)
    draft.fail(std::to_string(words.size()) + (words.size() == 1 ? " word" : " words") +
               "; expected a link as two names and perhaps a bandwidth, 'switch NAME...' or 'machine NAME...'");
  const double speed = words.size() == 3 ? to_bits_per_second(words[2]) : standard_link_speed;
  if (speed == 0)
    draft.fail("'" + std::string(words[2]) +
               "' is not a bandwidth; expected bits per second above zero, such as 100M or 2.5G");
  const int a = draft.node(words[0]);
  for (const std::string& name : draft.names(words[1])) draft.link(a, draft.node(name), speed);
}

}  // namespace

switch_network parse_edge_list(std::string_view text, const std::string& file) {
  network_draft draft(file);
  int line = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view statement = text.substr(begin, end - begin);
    draft.at_line(++line);
    const auto words = split_words(statement.substr(0, statement.find('#')));
    begin = end + 1;
    if (words.empty()) continue;
    if (is_keyword(words[0])) add_declaration(draft, words, words[0] == "machine");
    else add_links(draft, words);
  }
  return draft.finish();
}

std::string to_edge_list(const switch_network& network) {
  std::string text;
  for (const network_node& node : network.nodes()) text += (node.machine ? "machine " : "switch ") + node.name + "\n";
  for (const network_link& link : network.links()) {
    std::string_view first = network.nodes()[link.a].name, second = network.nodes()[link.b].name;
    if (is_keyword(first)) std::swap(first, second);  // a line must not begin like a declaration
    if (is_keyword(first)) throw std::invalid_argument("an edge list has no way to link 'switch' with 'machine'");
    text += std::string(first) + " " + std::string(second) + " " + from_bits_per_second(link.bits_per_second) + "\n";
  }
  return text;
}

}  // namespace shoal
