// The edge list: "a b [bandwidth]", "switch NAME...", "machine NAME...".
#include <stdexcept>
#include <utility>

#include "topology/host_list.hpp"
#include "topology/link_speed.hpp"
#include "topology/network_draft.hpp"
#include "topology/topology_file.hpp"

namespace shoal {

namespace {

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
