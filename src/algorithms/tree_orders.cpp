#include "algorithms/tree_orders.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>
#include <tuple>
#include <utility>

#include "algorithms/tree_phases.hpp"

namespace shoal {

namespace {

constexpr int most_greedy_ranks = 64;

// Sorts messages by phase, in linear time; they are already sorted by sender, and stay so within a phase.
std::vector<message> by_phase(const std::vector<message>& messages, std::int64_t phases) {
  std::vector<std::size_t> next(phases + 1, 0);
  for (const message& m : messages) ++next[m.phase + 1];
  std::partial_sum(next.begin(), next.end(), next.begin());
  std::vector<message> sorted(messages.size());
  for (const message& m : messages) sorted[next[m.phase]++] = m;
  return sorted;
}

std::vector<message> all_pairs(int ranks) {
  std::vector<message> pairs;
  pairs.reserve(static_cast<std::size_t>(ranks) * std::max(0, ranks - 1));
  for (int from = 0; from < ranks; ++from)
    for (int to = 0; to < ranks; ++to)
      if (from != to) pairs.push_back({0, from, to});
  return pairs;
}

bool by_sender(const message& a, const message& b) { return a.from < b.from; }

class greedy_phases {
 public:
  explicit greedy_phases(const rank_tree& tree)
      : tree_(tree), remaining_(tree.edges(), 0), waiting_(all_pairs(tree.ranks())) {
    for (const message& m : waiting_) tree_.path(m.from, m.to, [&](int edge) { ++remaining_[edge]; });
  }

  std::vector<message> run() {
    std::vector<message> ordered;
    for (int phase = 0; !waiting_.empty(); ++phase) {
      const auto begin = static_cast<std::ptrdiff_t>(ordered.size());
      take_phase(phase, ordered);
      std::sort(ordered.begin() + begin, ordered.end(), by_sender);
    }
    return ordered;
  }

 private:
  // Remaining messages per stream on the edges of a path, the most loaded first.
  std::vector<double> criticality(const message& m) const {
    std::vector<double> loads;
    tree_.path(m.from, m.to, [&](int edge) {
      loads.push_back(static_cast<double>(remaining_[edge]) / tree_.streams(link_of(edge)));
    });
    std::sort(loads.begin(), loads.end(), std::greater<>());
    return loads;
  }

  void sort_by_criticality() {
    std::vector<std::pair<std::vector<double>, message>> keyed;
    for (const message& m : waiting_) keyed.emplace_back(criticality(m), m);
    std::stable_sort(keyed.begin(), keyed.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    for (std::size_t i = 0; i < keyed.size(); ++i) waiting_[i] = keyed[i].second;
  }

  void take_phase(int phase, std::vector<message>& ordered) {
    sort_by_criticality();
    std::vector<int> used(tree_.edges(), 0);
    std::vector<message> left;
    for (message m : waiting_) {
      bool fits = true;
      tree_.path(m.from, m.to, [&](int edge) { fits = fits && used[edge] < tree_.streams(link_of(edge)); });
      if (!fits) {
        left.push_back(m);
        continue;
      }
      tree_.path(m.from, m.to, [&](int edge) { ++used[edge], --remaining_[edge]; });
      m.phase = phase;
      ordered.push_back(m);
    }
    waiting_.swap(left);
  }

  const rank_tree& tree_;
  std::vector<std::int64_t> remaining_;  // messages by edge
  std::vector<message> waiting_;
};

// Simulates the messages in time. Each message goes at the rate that the slowest cable on its path has for one stream.
// A message that finds an edge of its path busy is looked at again when a stream of that edge is free.
class list_greedy {
 public:
  list_greedy(const rank_tree& tree, std::span<const std::int64_t> bytes)
      : tree_(tree), bytes_(bytes), load_(tree.edges(), 0), used_(tree.edges(), 0), waiting_(tree.edges()) {
    for (const message& m : all_pairs(tree.ranks())) {
      (size(m) > 0 ? free_ : empty_).push_back(m);
      tree_.path(m.from, m.to, [&](int edge) { load_[edge] += seconds_of(m, edge); });
    }
  }

  sized_order run() {
    for (start_what_fits(); !running_.empty(); start_what_fits()) {
      now_ = running_.top().first;
      while (!running_.empty() && running_.top().first <= now_) end_next();
    }
    for (message& m : empty_) m.phase = phase_;
    ordered_.insert(ordered_.end(), empty_.begin(), empty_.end());
    return {std::move(ordered_), empty_.size(), now_};
  }

 private:
  using ending = std::pair<double, message>;
  struct later {
    bool operator()(const ending& a, const ending& b) const { return a.first > b.first; }
  };
  // The largest remaining load on the path, then the size; of equal messages the first by sender and receiver wins.
  using urgency = std::tuple<double, std::int64_t, int, int>;

  std::int64_t size(const message& m) const { return bytes_[static_cast<std::size_t>(m.from) * tree_.ranks() + m.to]; }
  double seconds_of(const message& m, int edge) const {
    return 8 * static_cast<double>(size(m)) / tree_.bits_per_second(link_of(edge));
  }

  // Whether no edge of the path is busy; else the message waits for one that is.
  bool fits(const message& m) {
    int busy = -1;
    tree_.path(m.from, m.to, [&](int edge) {
      if (used_[edge] == tree_.streams(link_of(edge))) busy = edge;
    });
    if (busy >= 0) waiting_[busy].push_back(m);
    return busy < 0;
  }

  urgency urgency_of(const message& m) const {
    double load = 0;
    tree_.path(m.from, m.to, [&](int edge) { load = std::max(load, load_[edge]); });
    return {load, size(m), -m.from, -m.to};
  }

  void start_what_fits() {
    std::vector<std::pair<urgency, message>> ready;
    for (const message& m : free_)
      if (fits(m)) ready.emplace_back(urgency_of(m), m);
    free_.clear();
    std::sort(ready.begin(), ready.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    const auto begin = static_cast<std::ptrdiff_t>(ordered_.size());
    for (const auto& candidate : ready)
      if (fits(candidate.second)) start(candidate.second);
    if (begin == static_cast<std::ptrdiff_t>(ordered_.size())) return;
    std::sort(ordered_.begin() + begin, ordered_.end(), by_sender);
    ++phase_;
  }

  void start(message m) {
    double seconds = 0;
    tree_.path(m.from, m.to, [&](int edge) {
      seconds = std::max(seconds, seconds_of(m, edge) * tree_.streams(link_of(edge)));
      load_[edge] -= seconds_of(m, edge);
      ++used_[edge];
    });
    m.phase = phase_;
    ordered_.push_back(m);
    running_.emplace(now_ + seconds, m);
  }

  void end_next() {
    const message m = running_.top().second;
    running_.pop();
    tree_.path(m.from, m.to, [&](int edge) {
      --used_[edge];
      free_.insert(free_.end(), waiting_[edge].begin(), waiting_[edge].end());
      waiting_[edge].clear();
    });
  }

  const rank_tree& tree_;
  std::span<const std::int64_t> bytes_;
  std::vector<double> load_;                   // seconds of messages not yet started, by edge
  std::vector<int> used_;                      // streams in use, by edge
  std::vector<std::vector<message>> waiting_;  // by the edge that was busy
  std::vector<message> free_;                  // messages to be looked at
  std::vector<message> empty_, ordered_;
  std::priority_queue<ending, std::vector<ending>, later> running_;
  int phase_ = 0;
  double now_ = 0;
};

}  // namespace

std::vector<message> closed_form_order(const rank_tree& tree) {
  const rank_phases table(tree);
  std::vector<message> messages = all_pairs(tree.ranks());
  for (message& m : messages) m.phase = static_cast<std::int32_t>(table.phase(m.from, m.to));
  return by_phase(messages, table.phases());
}

std::vector<message> greedy_order(const rank_tree& tree) { return greedy_phases(tree).run(); }

bool closed_form_serves(const rank_tree& tree) {
  return tree.ranks() > most_greedy_ranks || rank_phases(tree).phases() == uniform_bound(tree).phases;
}

std::vector<message> phased_order(const rank_tree& tree) {
  std::vector<message> closed = closed_form_order(tree);
  if (closed_form_serves(tree)) return closed;
  std::vector<message> greedy = greedy_order(tree);
  return phases_of(greedy) < phases_of(closed) ? greedy : closed;
}

int phases_of(std::span<const message> ordered) { return ordered.empty() ? 0 : ordered.back().phase + 1; }

sized_order list_greedy_order(const rank_tree& tree, std::span<const std::int64_t> bytes) {
  return list_greedy(tree, bytes).run();
}

}  // namespace shoal
