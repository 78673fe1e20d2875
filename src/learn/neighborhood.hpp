// Who exchanges with whom on one of the user's communicators, and what is made ready for that: every rank with all, or
// each with its neighbours in a grid or graph.
#pragma once

#include <mpi.h>

#include <memory>

#include "learn/named_algorithms.hpp"
#include "learn/prepared_algorithms.hpp"
#include "learn/scratch_limit.hpp"
#include "schedule/neighbor_graph.hpp"
#include "team/mpi_neighbors.hpp"

namespace shoal {

class communicator;

class neighborhood {
 public:
  // Every rank exchanges with all. Does not communicate.
  neighborhood(communicator& over, const settings& set);
  // Neighbours exchange, in calls of one form. The ranks tell each other their neighbours; collective. Throws
  // std::invalid_argument on every rank if the neighbours that the MPI names do not fit together, or if a rank has too
  // many.
  neighborhood(communicator& over, MPI_Comm users, call_form form, const settings& set);
  neighborhood(const neighborhood&) = delete;
  neighborhood& operator=(const neighborhood&) = delete;

  communicator& over() { return over_; }
  // As long as somebody holds this pointer, the communicator stays, which keeps the neighbourhood.
  std::shared_ptr<neighborhood> shared();
  bool is_complete() const { return !graph_; }
  // This rank's blocks.
  const block_peers& peers() const { return peers_; }
  // The neighbours of all ranks; to be called only if this is not complete.
  const neighbor_graph& graph() const { return *graph_; }
  // Whether nonblocking calls of the MPI's own match blocks in the same way as blocking ones.
  bool is_matched_alike() const { return is_matched_alike_; }

  // The algorithms that the user names.
  named_algorithms<decision>& named() { return named_; }
  prepared_algorithms& algorithms() { return algorithms_; }
  const prepared_algorithms& algorithms() const { return algorithms_; }
  scratch_limit& limit() { return limit_; }

 private:
  struct edges {
    block_peers of_rank;
    std::shared_ptr<const neighbor_graph> of_all;
  };
  static edges edges_of(team& over, MPI_Comm users, call_form form);
  neighborhood(communicator& over, collective what, edges between, const settings& set);

  communicator& over_;
  block_peers peers_;
  std::shared_ptr<const neighbor_graph> graph_;  // null: every rank exchanges with all
  bool is_matched_alike_;
  prepared_algorithms algorithms_;
  named_algorithms<decision> named_;
  scratch_limit limit_;
};

}  // namespace shoal
