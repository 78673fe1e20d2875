// MPI_Neighbor_alltoallv, with blocks of one size.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "all_to_all.hpp"
#include "learn/neighborhood.hpp"
#include "measured.hpp"
#include "neighbor_blocks.hpp"

namespace shoal::bench {

// The variants are auto (shoal_neighbor_alltoallv()), native (the MPI's own), hand (a loop of messages), and algorithms
// among neighbours.
class among_neighbors final : public measured {
 public:
  // The graph and the loop must outlive this object.
  among_neighbors(const neighbor_graph& graph, std::int64_t size, int rank, hand_loop& hand);

  // Throws std::invalid_argument if there is no such variant.
  static void require_has(const std::string& variant);

  bool takes(const std::string&) const override { return true; }
  void make_ready(const std::string& variant, MPI_Comm comm) override;
  void run(const std::string& variant, MPI_Comm comm) override;
  int calls_until_settled() const override { return 25; }
  const phase_clock* phases(MPI_Comm comm) const override;

  void fill() override { b_.fill(); }
  std::string wrong() const override { return b_.wrong(); }

 private:
  int native(MPI_Comm comm);
  void by(neighborhood& named, MPI_Comm comm);

  neighbor_blocks b_;
  std::vector<int> counts_, at_;  // for both sides; the one with fewer blocks uses the first of them
  hand_loop& hand_;
  std::map<std::string, neighborhood> named_;  // by algorithm
};

// Makes a communicator that has the graph as its topology. Collective.
MPI_Comm make_graph_communicator(const neighbor_graph& graph, int rank);

}  // namespace shoal::bench
