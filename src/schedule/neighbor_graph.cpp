#include "schedule/neighbor_graph.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>

namespace shoal {

namespace {

[[noreturn]] void wrong(int rank, const char* what) {
  throw std::invalid_argument("the neighbours of rank " + std::to_string(rank) + " and of other ranks differ: " + what);
}

}  // namespace

neighbor_graph::neighbor_graph(std::vector<neighbors> of_ranks) : of_ranks_(std::move(of_ranks)) {
  for (const neighbors& of : of_ranks_) arrival_of_.emplace_back(of.destinations.size(), -1);
  for (int rank = 0; rank < ranks(); ++rank)
    for (int place = 0; place < static_cast<int>(arrivals(rank).size()); ++place) {
      const auto [source, edge] = arrivals(rank)[place];
      if (source < 0) continue;
      if (source >= ranks() || edge < 0 || edge >= static_cast<int>(destinations(source).size()) ||
          destinations(source)[edge] != rank || arrival_of_[source][edge] >= 0)
        wrong(rank, "it receives a block that nobody sends");
      arrival_of_[source][edge] = place;
    }
  for (int rank = 0; rank < ranks(); ++rank)
    for (std::size_t edge = 0; edge < destinations(rank).size(); ++edge)
      if (destinations(rank)[edge] >= 0 && arrival_of_[rank][edge] < 0)
        wrong(rank, "it sends a block that nobody receives");
}

bool neighbor_graph::has_parallel_edges() const {
  return std::any_of(of_ranks_.begin(), of_ranks_.end(), [](const neighbors& of) {
    std::vector<int> ranks = of.destinations;
    std::erase(ranks, -1);
    std::sort(ranks.begin(), ranks.end());
    return std::adjacent_find(ranks.begin(), ranks.end()) != ranks.end();
  });
}

neighbor_graph neighbor_graph::to(std::vector<std::vector<int>> destinations) {
  const int ranks = static_cast<int>(destinations.size());
  std::vector<neighbors> all(destinations.size());
  for (int rank = 0; rank < ranks; ++rank) {
    for (int edge = 0; edge < static_cast<int>(destinations[rank].size()); ++edge) {
      const int to = destinations[rank][edge];
      if (to < 0 || to >= ranks)
        throw std::invalid_argument("rank " + std::to_string(rank) + " sends to rank " + std::to_string(to) +
                                    ", which is not in the graph");
      all[to].arrivals.push_back({rank, edge});
    }
    all[rank].destinations = std::move(destinations[rank]);
  }
  return neighbor_graph(std::move(all));
}

neighbor_graph neighbor_graph::complete(int ranks) {
  std::vector<int> everyone(static_cast<std::size_t>(ranks));
  std::iota(everyone.begin(), everyone.end(), 0);
  return to(std::vector(everyone.size(), everyone));
}

neighbor_graph neighbor_graph::grid(std::span<const int> extents, bool closed) {
  const int ranks = std::accumulate(extents.begin(), extents.end(), 1, std::multiplies<>());
  std::vector<std::vector<int>> destinations(static_cast<std::size_t>(ranks));
  int stride = ranks;
  for (const int extent : extents) {
    stride /= extent;
    for (int rank = 0; rank < ranks; ++rank)
      for (const int step : {-1, 1}) {
        const int at = rank / stride % extent, there = at + step;
        if (closed || (0 <= there && there < extent))
          destinations[rank].push_back(rank + ((there + extent) % extent - at) * stride);
      }
  }
  return to(std::move(destinations));
}

neighbor_graph neighbor_graph::random(int ranks, int partners) {
  std::mt19937 draw(7);  // NOLINT(bugprone-random-generator-seed): the same graph each time
  std::vector<std::vector<int>> destinations(static_cast<std::size_t>(ranks));
  for (int from = 0; from < ranks; ++from) {
    std::vector<int>& to = destinations[from];
    while (static_cast<int>(to.size()) < std::min(partners, ranks - 1)) {
      const int drawn = static_cast<int>(draw() % static_cast<unsigned>(ranks));
      if (drawn != from && std::find(to.begin(), to.end(), drawn) == to.end()) to.push_back(drawn);
    }
  }
  return to(std::move(destinations));
}

}  // namespace shoal
