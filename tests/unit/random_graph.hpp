// Random neighbours for tests.
#pragma once

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

#include "schedule/neighbor_graph.hpp"

namespace shoal::testing {

// A graph in which a rank sends along up to `most` edges, or none. There may be several edges between two ranks, edges
// from a rank to itself, and places for nobody.
inline neighbor_graph random_graph(int ranks, int most, std::mt19937& random) {
  std::vector<neighbor_graph::neighbors> all(static_cast<std::size_t>(ranks));
  for (int rank = 0; rank < ranks; ++rank) {
    const int edges = random() % 5 ? static_cast<int>(random() % static_cast<unsigned>(most + 1)) : 0;
    for (int edge = 0; edge < edges; ++edge) {
      const int to = random() % 8 ? static_cast<int>(random() % static_cast<unsigned>(ranks)) : -1;
      all[rank].destinations.push_back(to);
      if (to >= 0) all[to].arrivals.push_back({rank, edge});
    }
    if (random() % 8 == 0) all[random() % static_cast<unsigned>(ranks)].arrivals.push_back({});
  }
  for (auto& of : all) std::shuffle(of.arrivals.begin(), of.arrivals.end(), random);
  return neighbor_graph(std::move(all));
}

}  // namespace shoal::testing
