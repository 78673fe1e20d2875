// The network as schedules see it: a rooted tree whose leaves are the ranks.
//
// Source: AAPC on Ethernet switched clusters (Faraj and Yuan), sections 3 and 4.1, with root and subtrees
// corrected. Faster links and several ranks a machine are Shoal's own.
// Cost: O(nodes) besides the canonical choice among several centroids, which compares names.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "topology/switch_network.hpp"

namespace shoal {

// A link is named by the node below it. Its two directions are separate edges, as every link is full duplex.
constexpr int up_edge(int node) { return 2 * node; }
constexpr int down_edge(int node) { return 2 * node + 1; }
constexpr int link_of(int edge) { return edge / 2; }

// A message of an exchange, and the phase to which it belongs.
struct message {
  std::int32_t phase, from, to;
  bool operator==(const message&) const = default;
};

class rank_tree {
 public:
  // Throws std::invalid_argument if the root that the user chose leaves more than half of the ranks in one branch.
  explicit rank_tree(const switch_network& network);

  int ranks() const { return static_cast<int>(leaf_.size()); }
  int root() const { return root_; }
  // The nodes that may be the root: none of their branches holds more than half of the ranks. The canonical root comes
  // first.
  const std::vector<int>& centroids() const { return centroids_; }

  // The first nodes are those of the network. Then come the leaves of ranks that share a machine.
  int nodes() const { return static_cast<int>(parent_.size()); }
  int edges() const { return 2 * nodes(); }
  int parent(int node) const { return parent_[node]; }  // -1 for the root
  int leaf(int rank) const { return leaf_[rank]; }
  const std::vector<int>& top_down() const { return top_down_; }  // all nodes, parents first

  // These describe the link above a node.
  bool is_cable(int node) const { return node != root_ && node < network_nodes_; }  // false inside a machine
  int ranks_below(int node) const { return below_[node]; }
  double bits_per_second(int node) const { return speed_[node]; }
  // The number of messages of an all-to-all that use each of the link's two edges.
  std::int64_t load(int node) const { return std::int64_t{below_[node]} * (ranks() - below_[node]); }
  // The number of messages that the link carries at once, each at the rate of the slowest link in use.
  int streams(int node) const { return streams_[node]; }

  // Ranks by the part of the network that they share: in a phase of the schedule one message at most leaves a group,
  // one enters it and one stays inside. If all links are equal, the groups are the subtrees of the root. If a faster
  // link carries several streams, the ranks below it are split. The largest group comes first; ranks ascend.
  const std::vector<std::vector<int>>& groups() const { return groups_; }

  // Calls visit(edge) for every directed edge on the way from one rank to another.
  template <typename Visit>
  void path(int from, int to, Visit visit) const;

 private:
  struct neighbour {
    int node;
    double bits_per_second;
  };
  using adjacency = std::vector<std::vector<neighbour>>;
  adjacency add_ranks(const switch_network& network);
  void order_from(int root, const adjacency& near);
  std::vector<int> branches(int node, const adjacency& near) const;
  void find_centroids(const switch_network& network, const adjacency& near);
  void choose_root(const switch_network& network, const adjacency& near);
  void count_streams();
  void find_groups();

  int root_ = 0, network_nodes_ = 0;
  std::vector<int> parent_, depth_, top_down_, below_, streams_;
  std::vector<double> speed_;
  std::vector<int> leaf_;
  std::vector<int> centroids_;
  std::vector<std::vector<int>> groups_;
};

// An all-to-all of equal blocks cannot be faster than its most loaded link allows.
struct link_bound {
  std::int64_t phases = 0;      // on the link that needs most phases
  int link = -1;                // the cable that needs most time, by the node below it; -1: nothing is sent
  double messages_per_bps = 0;  // its load divided by its bandwidth
  double seconds(std::int64_t bytes_per_block) const {
    return messages_per_bps * 8 * static_cast<double>(bytes_per_block);
  }
};
link_bound uniform_bound(const rank_tree& tree);
// The same for blocks of known sizes, bytes[from * ranks + to]: the seconds of the cable direction that needs most
// time.
double sized_bound(const rank_tree& tree, std::span<const std::int64_t> bytes);

// How many bytes a message of `payload` bytes takes on a link: TCP segments in full Ethernet frames. MTU 1500 less
// 20 bytes IP and 32 bytes TCP with time stamps leaves 1448 bytes a frame; around it 14 bytes Ethernet header, 4 check
// sequence, 8 preamble and 12 gap, 38 in all: 1448 of 1538 bytes, 94.1 %. Acknowledgements are not counted.
std::int64_t bytes_on_wire(std::int64_t payload);

template <typename Visit>
void rank_tree::path(int from, int to, Visit visit) const {
  int a = leaf_[from], b = leaf_[to];
  while (a != b) {
    if (depth_[a] >= depth_[b]) {
      visit(up_edge(a));
      a = parent_[a];
    } else {
      visit(down_edge(b));
      b = parent_[b];
    }
  }
}

}  // namespace shoal
