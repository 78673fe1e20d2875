#include "topology/switch_network.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "topology/host_list.hpp"

namespace shoal {

namespace {

void require_tree(const std::vector<network_node>& nodes, const std::vector<network_link>& links) {
  const int count = static_cast<int>(nodes.size());
  std::vector<int> part(nodes.size()), degree(nodes.size(), 0);
  std::iota(part.begin(), part.end(), 0);
  const auto part_of = [&](int node) {
    while (part[node] != node) node = part[node] = part[part[node]];
    return node;
  };
  for (const network_link& link : links) {
    if (link.a < 0 || link.a >= count || link.b < 0 || link.b >= count)
      throw std::invalid_argument("a link names a node that does not exist");
    if (!(link.bits_per_second > 0)) throw std::invalid_argument("a link needs a bandwidth above zero");
    if (part_of(link.a) == part_of(link.b))
      throw std::invalid_argument("the link " + nodes[link.a].name + " - " + nodes[link.b].name + " closes a cycle");
    part[part_of(link.a)] = part_of(link.b);
    for (int end : {link.a, link.b})
      if (++degree[end] > 1 && nodes[end].machine)
        throw std::invalid_argument("machine " + nodes[end].name + " has two links");
  }
  if (!nodes.empty() && links.size() + 1 != nodes.size()) throw std::invalid_argument("the network is disconnected");
}

std::string_view short_name(std::string_view host) { return host.substr(0, host.find('.')); }

}  // namespace

switch_network::switch_network(std::vector<network_node> nodes, std::vector<network_link> links)
    : nodes_(std::move(nodes)), links_(std::move(links)) {
  require_tree(nodes_, links_);
  for (int node = 0; node < static_cast<int>(nodes_.size()); ++node)
    if (!by_name_.emplace(nodes_[node].name, node).second)
      throw std::invalid_argument("two nodes are named " + nodes_[node].name);
  machine_of_rank_ = machines();
  forget();
}

int switch_network::find(std::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? -1 : found->second;
}

std::vector<int> switch_network::machines() const {
  std::vector<int> found;
  for (int node = 0; node < static_cast<int>(nodes_.size()); ++node)
    if (nodes_[node].machine) found.push_back(node);
  std::sort(found.begin(), found.end(), [&](int a, int b) { return natural_less(nodes_[a].name, nodes_[b].name); });
  return found;
}

void switch_network::place_ranks(const std::vector<std::string>& hosts) {
  std::vector<int> placed;
  for (const std::string& host : hosts) {
    int node = find(host);
    if (node < 0) node = find(short_name(host));
    if (node < 0 || !nodes_[node].machine)
      throw std::invalid_argument("rank " + std::to_string(placed.size()) + " is on host '" + host + "', which " +
                                  (node < 0 ? "the topology does not have" : "is a switch in the topology") +
                                  "; its machines are " + fold_host_list(names_of(machines())));
    placed.push_back(node);
  }
  machine_of_rank_.swap(placed);
  forget();
}

std::vector<std::string> switch_network::names_of(const std::vector<int>& nodes) const {
  std::vector<std::string> names;
  for (int node : nodes) names.push_back(nodes_[node].name);
  return names;
}

std::vector<int> switch_network::switch_of_ranks() const {
  std::vector<int> above(nodes_.size());
  std::iota(above.begin(), above.end(), 0);
  for (const network_link& link : links_) {
    if (nodes_[link.a].machine) above[link.a] = link.b;
    if (nodes_[link.b].machine) above[link.b] = link.a;
  }
  std::vector<int> all;
  for (const int machine : machine_of_rank_) all.push_back(above[machine]);
  return all;
}

void switch_network::choose_root(std::string_view name) {
  const int node = find(name);
  if (node < 0) throw std::invalid_argument("the topology has no switch '" + std::string(name) + "' to be the root");
  chosen_root_ = node;
  forget();
}

}  // namespace shoal
