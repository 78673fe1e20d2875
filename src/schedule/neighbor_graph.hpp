// Who sends blocks to whom, if not everyone sends to everyone: a directed graph. A rank may have several edges to
// another rank, edges to itself, or no edges.
#pragma once

#include <span>
#include <vector>

namespace shoal {

class neighbor_graph {
 public:
  // An edge as its receiver sees it: who sends, and which of the sender's edges this is. {-1, -1}: nobody sends.
  struct arrival {
    int source = -1, edge = -1;
    bool operator==(const arrival&) const = default;
  };
  // The edges of one rank, in the order of its blocks: where the blocks go that it sends (-1: nowhere), and where the
  // blocks come from that it receives.
  struct neighbors {
    std::vector<int> destinations;
    std::vector<arrival> arrivals;
    bool operator==(const neighbors&) const = default;
  };

  // Throws std::invalid_argument unless every edge is there once at its sender and once at its receiver.
  explicit neighbor_graph(std::vector<neighbors> of_ranks);
  // The graph in which rank r sends to destinations[r]. Each rank receives in the order of the senders, and of the
  // edges of each sender.
  static neighbor_graph to(std::vector<std::vector<int>> destinations);
  // Everyone to everyone, blocks in the order of ranks: an all-to-all.
  static neighbor_graph complete(int ranks);
  // A grid of ranks, numbered with the last dimension fastest. In each dimension a rank sends to the rank before it, then
  // to the one after it, as in a communicator of MPI_Cart_create. In a closed grid, a torus, ends meet.
  static neighbor_graph grid(std::span<const int> extents, bool closed);
  // Everyone to `partners` others, or to all others if there are fewer. The same graph in every call.
  static neighbor_graph random(int ranks, int partners);

  int ranks() const { return static_cast<int>(of_ranks_.size()); }
  std::span<const int> destinations(int rank) const { return of_ranks_[rank].destinations; }
  std::span<const arrival> arrivals(int rank) const { return of_ranks_[rank].arrivals; }
  // Whether some rank has several edges to another, or to itself.
  bool has_parallel_edges() const;
  // The place of this edge of `rank` among the arrivals of its receiver; -1 if the edge goes nowhere.
  int arrival_of(int rank, int edge) const { return arrival_of_[rank][edge]; }

 private:
  std::vector<neighbors> of_ranks_;
  std::vector<std::vector<int>> arrival_of_;  // by rank and edge; -1: the edge goes nowhere
};

}  // namespace shoal
