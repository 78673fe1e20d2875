#include "topology/rank_tree.hpp"

#include <algorithm>
#include <stdexcept>
#include <tuple>

#include "topology/host_list.hpp"

namespace shoal {

namespace {

using group = std::vector<int>;  // ranks, ascending

// Larger groups come first, then those with the smaller first rank, so the order of lines in a file does not matter.
bool comes_first(const group& a, const group& b) {
  return std::make_tuple(b.size(), a.front()) < std::make_tuple(a.size(), b.front());
}

void absorb(group& into, const group& other) {
  const auto middle = static_cast<std::ptrdiff_t>(into.size());
  into.insert(into.end(), other.begin(), other.end());
  std::inplace_merge(into.begin(), into.begin() + middle, into.end());
}

// Merges the groups into `most` groups, if there are more: each, the largest first, joins the smallest result so far.
std::vector<group> merged(std::vector<group> groups, int most) {
  if (static_cast<int>(groups.size()) <= most) return groups;
  std::sort(groups.begin(), groups.end(), comes_first);
  std::vector<group> bins(most);
  const auto is_smaller = [](const group& a, const group& b) { return a.size() < b.size(); };
  for (const group& g : groups) absorb(*std::min_element(bins.begin(), bins.end(), is_smaller), g);
  return bins;
}

}  // namespace

rank_tree::rank_tree(const switch_network& network) : network_nodes_(static_cast<int>(network.nodes().size())) {
  const adjacency near = add_ranks(network);
  if (near.empty()) return;
  order_from(0, near);
  find_centroids(network, near);
  choose_root(network, near);
  order_from(root_, near);
  count_streams();
  find_groups();
}

// A machine with one rank is that rank's leaf; one with several becomes an inner node above a leaf for each.
rank_tree::adjacency rank_tree::add_ranks(const switch_network& network) {
  adjacency near(network_nodes_);
  for (const network_link& link : network.links()) {
    near[link.a].push_back({link.b, link.bits_per_second});
    near[link.b].push_back({link.a, link.bits_per_second});
  }
  std::vector<int> placed(network_nodes_, 0);
  for (int rank = 0; rank < network.ranks(); ++rank) ++placed[network.machine_of(rank)];
  for (int rank = 0; rank < network.ranks(); ++rank) {
    const int machine = network.machine_of(rank);
    if (placed[machine] == 1) {
      leaf_.push_back(machine);
      continue;
    }
    const int leaf = static_cast<int>(near.size());
    const double speed = near[machine].empty() ? standard_link_speed : near[machine][0].bits_per_second;
    near[machine].push_back({leaf, speed});
    near.push_back({{machine, speed}});
    leaf_.push_back(leaf);
  }
  return near;
}

void rank_tree::order_from(int root, const adjacency& near) {
  parent_.assign(near.size(), -1);
  depth_.assign(near.size(), 0);
  speed_.assign(near.size(), 0);
  top_down_.assign(1, root);
  for (std::size_t i = 0; i < top_down_.size(); ++i) {
    const int node = top_down_[i];
    for (const auto& [next, speed] : near[node]) {
      if (next == parent_[node]) continue;
      parent_[next] = node;
      depth_[next] = depth_[node] + 1;
      speed_[next] = speed;
      top_down_.push_back(next);
    }
  }
  below_.assign(near.size(), 0);
  for (int leaf : leaf_) below_[leaf] = 1;
  for (std::size_t i = top_down_.size(); i-- > 1;) below_[parent_[top_down_[i]]] += below_[top_down_[i]];
}

// How many ranks each branch of a node holds, without empty branches.
std::vector<int> rank_tree::branches(int node, const adjacency& near) const {
  std::vector<int> sizes;
  for (const auto& [next, speed] : near[node]) {
    const int size = next == parent_[node] ? ranks() - below_[node] : below_[next];
    if (size > 0) sizes.push_back(size);
  }
  return sizes;
}

// The canonical root comes first: it has at least three branches if possible, then the fewest, then the smallest name.
void rank_tree::find_centroids(const switch_network& network, const adjacency& near) {
  std::vector<char> is_leaf(near.size(), 0);
  for (int leaf : leaf_) is_leaf[leaf] = 1;
  const bool has_inner = std::find(is_leaf.begin(), is_leaf.end(), 0) != is_leaf.end();
  for (int node = 0; node < network_nodes_; ++node) {
    const std::vector<int> sizes = branches(node, near);
    const bool fits = std::all_of(sizes.begin(), sizes.end(), [&](int size) { return 2 * size <= ranks(); });
    if (fits && (!is_leaf[node] || !has_inner)) centroids_.push_back(node);
  }
  const auto before = [&](int a, int b) {
    const std::size_t x = branches(a, near).size(), y = branches(b, near).size();
    if ((x < 3) != (y < 3)) return y < 3;
    if (x != y) return x < y;
    return natural_less(network.nodes()[a].name, network.nodes()[b].name);
  };
  std::sort(centroids_.begin(), centroids_.end(), before);
}

void rank_tree::choose_root(const switch_network& network, const adjacency& near) {
  const int chosen = network.chosen_root();
  if (chosen < 0 || ranks() < 2) {
    root_ = centroids_.empty() ? 0 : centroids_[0];
  } else if (std::find(centroids_.begin(), centroids_.end(), chosen) != centroids_.end()) {
    root_ = chosen;
  } else {
    const std::vector<int> sizes = branches(chosen, near);
    throw std::invalid_argument(network.nodes()[chosen].name + " cannot be the root: a branch has " +
                                std::to_string(*std::max_element(sizes.begin(), sizes.end())) + " of " +
                                std::to_string(ranks()) +
                                " ranks, more than half; possible: " + fold_host_list(network.names_of(centroids_)));
  }
}

void rank_tree::count_streams() {
  double slowest = 0;
  for (int node = 0; node < nodes(); ++node)
    if (load(node) > 0 && (slowest == 0 || speed_[node] < slowest)) slowest = speed_[node];
  streams_.assign(nodes(), 1);
  constexpr double rounding = 1 + 1e-9;
  for (int node = 0; node < nodes(); ++node)
    if (load(node) > 0) streams_[node] = static_cast<int>(std::min(speed_[node] / slowest * rounding, 1e6));
}

void rank_tree::find_groups() {
  std::vector<std::vector<group>> at(nodes());
  for (int rank = 0; rank < ranks(); ++rank) at[leaf_[rank]].push_back({rank});
  for (std::size_t i = top_down_.size(); i-- > 1;) {
    const int node = top_down_[i];
    for (group& g : merged(std::move(at[node]), streams_[node])) at[parent_[node]].push_back(std::move(g));
  }
  groups_ = std::move(at[root_]);
  std::sort(groups_.begin(), groups_.end(), comes_first);
}

link_bound uniform_bound(const rank_tree& tree) {
  link_bound bound;
  for (int node = 0; node < tree.nodes(); ++node) {
    const std::int64_t load = tree.load(node);
    bound.phases = std::max(bound.phases, (load + tree.streams(node) - 1) / tree.streams(node));
    if (!tree.is_cable(node) || load == 0) continue;
    const double need = static_cast<double>(load) / tree.bits_per_second(node);
    if (need > bound.messages_per_bps) bound.messages_per_bps = need, bound.link = node;
  }
  return bound;
}

double sized_bound(const rank_tree& tree, std::span<const std::int64_t> bytes) {
  std::vector<double> load(tree.edges(), 0);
  for (int from = 0; from < tree.ranks(); ++from)
    for (int to = 0; to < tree.ranks(); ++to) {
      const std::int64_t size = bytes[static_cast<std::size_t>(from) * tree.ranks() + to];
      tree.path(from, to, [&](int edge) { load[edge] += static_cast<double>(size); });
    }
  double seconds = 0;
  for (int edge = 0; edge < tree.edges(); ++edge)
    if (tree.is_cable(link_of(edge))) seconds = std::max(seconds, 8 * load[edge] / tree.bits_per_second(link_of(edge)));
  return seconds;
}

std::int64_t bytes_on_wire(std::int64_t payload) {
  constexpr std::int64_t segment = 1448, headers = 20 + 32 + 38;
  return payload + (payload + segment - 1) / segment * headers;
}

}  // namespace shoal
