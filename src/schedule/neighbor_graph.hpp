// Who sends blocks to whom, where that is not everyone to everyone: a directed graph in which a rank may have several
// edges to another, edges to itself, and none.
#pragma once

#include <span>
#include <vector>

namespace shoal {

class neighbor_graph {
 public:
  // An edge as its receiver sees it: who sends, and which of the sender's edges this is. Nobody: {-1, -1}.
  struct arrival {
    int source = -1, edge = -1;
    bool operator==(const arrival&) const = default;
  };
  // Of one rank, in the order of its blocks: where those go that it sends (-1: nowhere), and where those come from that it
  // receives.
  struct neighbors {
    std::vector<int> destinations;
    std::vector<arrival> arrivals;
    bool operator==(const neighbors&) const = default;
  };

  // Throws std::invalid_argument unless every edge has both its ends, once.
  explicit neighbor_graph(std::vector<neighbors> of_ranks);
  // To whom each rank sends. What it receives is in the order of the senders, and of their edges.
  static neighbor_graph to(std::vector<std::vector<int>> destinations);
  // Everyone to everyone, blocks in the order of ranks: an all-to-all.
  static neighbor_graph complete(int ranks);

  int ranks() const { return static_cast<int>(of_ranks_.size()); }
  std::span<const int> destinations(int rank) const { return of_ranks_[rank].destinations; }
  std::span<const arrival> arrivals(int rank) const { return of_ranks_[rank].arrivals; }
  // Whether some rank has several edges to another, or to itself.
  bool has_parallel_edges() const;
  // Which of its receiver's arrivals an edge of `rank` that goes somewhere is.
  int arrival_of(int rank, int edge) const { return arrival_of_[rank][edge]; }

 private:
  std::vector<neighbors> of_ranks_;
  std::vector<std::vector<int>> arrival_of_;  // by rank and edge; -1: it goes nowhere
};

}  // namespace shoal
