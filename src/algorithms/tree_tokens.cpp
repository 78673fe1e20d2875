#include "algorithms/tree_tokens.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>

namespace shoal {

namespace {

// Every edge has window * streams lanes, or one for each message that uses the edge if these are fewer. The messages
// take the lanes in turn, and the messages of a lane follow each other. The table knows the lanes of every message, one
// for each edge of its path.
class lane_table {
 public:
  lane_table(const rank_tree& tree, std::span<const message> ordered, int window) {
    std::vector<int> first_lane(tree.edges()), used(tree.edges(), 0);
    const auto width = [&](int edge) {
      const std::int64_t users = std::max<std::int64_t>(1, tree.load(link_of(edge)));
      return static_cast<int>(std::min(users, std::int64_t{window} * tree.streams(link_of(edge))));
    };
    for (int edge = 0; edge < tree.edges(); ++edge) {
      first_lane[edge] = lanes_;
      lanes_ += width(edge);
    }
    first_.reserve(ordered.size() + 1);
    for (const message& m : ordered) {
      tree.path(m.from, m.to, [&](int edge) { taken_.push_back(first_lane[edge] + used[edge]++ % width(edge)); });
      first_.push_back(taken_.size());
    }
  }
  int lanes() const { return lanes_; }
  std::span<const std::int32_t> of(std::int32_t m) const {
    return {taken_.data() + first_[m], first_[m + 1] - first_[m]};
  }

 private:
  int lanes_ = 0;
  std::vector<std::size_t> first_{0};
  std::vector<std::int32_t> taken_;
};

// The last user of each lane while messages are taken in order.
class lane_users {
 public:
  explicit lane_users(int lanes) : last_(lanes, -1) {}
  std::int32_t of(std::int32_t lane) const { return last_[lane]; }
  void take(std::span<const std::int32_t> lanes, std::int32_t m) {
    for (std::int32_t lane : lanes) last_[lane] = m;
  }
  // Appends the messages that the next user of these lanes waits for, the youngest first, each once.
  void append_predecessors(std::span<const std::int32_t> lanes, std::vector<std::int32_t>& to) const {
    const auto begin = static_cast<std::ptrdiff_t>(to.size());
    for (std::int32_t lane : lanes)
      if (last_[lane] >= 0) to.push_back(last_[lane]);
    std::sort(to.begin() + begin, to.end(), std::greater<>());
    to.erase(std::unique(to.begin() + begin, to.end()), to.end());
  }

 private:
  std::vector<std::int32_t> last_;
};

// Keeps a clock for each message. A chain consists of messages of one sender that follow each other. The clock of a
// message tells for every chain its youngest message that is this message or that this message has waited for. Only the
// clocks of the last users of lanes are alive.
class exact_reduction {
 public:
  exact_reduction(const rank_tree& tree, std::span<const message> ordered, int window)
      : ordered_(ordered), table_(tree, ordered, window), users_(table_.lanes()), clock_of_(table_.lanes()) {
    std::vector<int> first(1, 0), sent(tree.ranks(), 0);
    for (int rank = 0; rank < tree.ranks(); ++rank) first.push_back(first.back() + sends_under_way(tree, rank, window));
    for (const message& m : ordered)
      chain_.push_back(first[m.from] + sent[m.from]++ % (first[m.from + 1] - first[m.from]));
    chains_ = first.back();
  }

  synchronisations run() {
    for (std::int32_t m = 0; m < static_cast<std::int32_t>(ordered_.size()); ++m) {
      const auto lanes = table_.of(m);
      const auto own = std::make_shared<const clock>(reduce(m, lanes));
      users_.take(lanes, m);
      for (std::int32_t lane : lanes) clock_of_[lane] = own;
    }
    return std::move(result_);
  }

 private:
  using clock = std::vector<std::int32_t>;

  clock reduce(std::int32_t m, std::span<const std::int32_t> lanes) {
    clock merged(chains_, -1);
    predecessors_.clear();
    users_.append_predecessors(lanes, predecessors_);
    for (std::int32_t before : predecessors_) {
      const bool counts = ordered_[before].from != ordered_[m].from;
      result_.candidates += counts;
      if (merged[chain_[before]] >= before) continue;  // a younger predecessor has waited for this one
      (counts ? result_.kept : result_.own).push_back({before, m});
      const clock& other = *clock_of_[lane_used_by(before, lanes)];
      std::transform(merged.begin(), merged.end(), other.begin(), merged.begin(),
                     [](std::int32_t a, std::int32_t b) { return std::max(a, b); });
    }
    merged[chain_[m]] = m;
    return merged;
  }

  std::int32_t lane_used_by(std::int32_t before, std::span<const std::int32_t> lanes) const {
    return *std::find_if(lanes.begin(), lanes.end(), [&](std::int32_t lane) { return users_.of(lane) == before; });
  }

  std::span<const message> ordered_;
  lane_table table_;
  lane_users users_;
  std::vector<std::shared_ptr<const clock>> clock_of_;  // by lane, of its last user
  std::vector<int> chain_;                              // of each message
  int chains_ = 0;
  std::vector<std::int32_t> predecessors_;
  synchronisations result_;
};

// Drops a predecessor p if a younger predecessor shares a lane with p, and so has waited for p, or if the younger one
// itself has a predecessor that is p or shares a lane with p.
class chain2_reduction {
 public:
  chain2_reduction(const rank_tree& tree, std::span<const message> ordered, int window)
      : ordered_(ordered), table_(tree, ordered, window), mark_(table_.lanes(), -1) {}

  synchronisations run() {
    lane_users users(table_.lanes());
    for (std::int32_t m = 0; m < static_cast<std::int32_t>(ordered_.size()); ++m) {
      users.append_predecessors(table_.of(m), predecessors_);
      first_.push_back(predecessors_.size());
      reduce(m);
      users.take(table_.of(m), m);
    }
    return std::move(result_);
  }

 private:
  std::span<const std::int32_t> before(std::int32_t m) const {
    return {predecessors_.data() + first_[m], first_[m + 1] - first_[m]};
  }

  void reduce(std::int32_t m) {
    const auto all = before(m);
    for (std::size_t i = 0; i < all.size(); ++i) {
      const bool counts = ordered_[all[i]].from != ordered_[m].from;
      result_.candidates += counts;
      if (!is_reached(all[i], all.first(i))) (counts ? result_.kept : result_.own).push_back({all[i], m});
    }
  }

  bool is_reached(std::int32_t m, std::span<const std::int32_t> younger) {
    for (std::int32_t lane : table_.of(m)) mark_[lane] = m;
    const auto shares_lane = [&](std::int32_t other) {
      const auto lanes = table_.of(other);
      return std::any_of(lanes.begin(), lanes.end(), [&](std::int32_t lane) { return mark_[lane] == m; });
    };
    if (std::any_of(younger.begin(), younger.end(), shares_lane)) return true;
    for (std::int32_t via : younger)
      for (std::int32_t other : before(via)) {
        if (other < m) break;
        if (shares_lane(other)) return true;
      }
    return false;
  }

  std::span<const message> ordered_;
  lane_table table_;
  std::vector<std::int32_t> mark_;  // marks the lanes of one message with that message
  std::vector<std::size_t> first_{0};
  std::vector<std::int32_t> predecessors_;  // of all messages so far
  synchronisations result_;
};

constexpr int most_exact_ranks = 256;

std::int64_t pairs(std::int64_t n) { return n * (n - 1) / 2; }

}  // namespace

std::optional<reduction> parse_reduction(std::string_view word, int ranks) {
  if (word == "auto") return ranks <= most_exact_ranks ? reduction::exact : reduction::chain2;
  if (word == "exact") return reduction::exact;
  if (word == "chain2") return reduction::chain2;
  if (word == "none") return std::nullopt;
  throw std::invalid_argument("there is no synchronisation '" + std::string(word) +
                              "'; there are auto, exact, chain2, none");
}

int sends_under_way(const rank_tree& tree, int rank, int window) {
  const std::int64_t most = std::int64_t{window} * tree.streams(tree.leaf(rank));
  return static_cast<int>(std::min<std::int64_t>(most, std::max(1, tree.ranks() - 1)));
}

synchronisations synchronise(const rank_tree& tree, std::span<const message> ordered, int window, reduction wanted) {
  if (wanted == reduction::exact) return exact_reduction(tree, ordered, window).run();
  return chain2_reduction(tree, ordered, window).run();
}

// Pairs on every edge, less those counted again on the next edge of a common stretch, less those of one sender.
std::int64_t contending_pairs(const rank_tree& tree) {
  const std::int64_t ranks = tree.ranks();
  std::vector<std::int64_t> sum(tree.nodes(), 0), squares(tree.nodes(), 0), fourths(tree.nodes(), 0);  // over children
  std::int64_t total = -ranks * pairs(ranks - 1);
  for (int node = 0; node < tree.nodes(); ++node) {
    const int parent = tree.parent(node);
    if (parent < 0) continue;
    const std::int64_t x = tree.ranks_below(node), above = ranks - tree.ranks_below(parent);
    total += 2 * pairs(tree.load(node)) - 2 * pairs(x * above);  // up, up and down, down
    sum[parent] += x;
    squares[parent] += x * x;
    fourths[parent] += x * x * x * x;
  }
  for (int node = 0; node < tree.nodes(); ++node)  // up, down: the sum of pairs(x * y) over ordered pairs of children
    total -= (squares[node] * squares[node] - fourths[node] - sum[node] * sum[node] + squares[node]) / 2;
  return total;
}

}  // namespace shoal
