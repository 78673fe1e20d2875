// The neighbours of all ranks of one of the user's communicators, and what is made ready for their exchanges in one
// form.
#pragma once

#include <mpi.h>

#include <memory>

#include "learn/communicator.hpp"
#include "schedule/neighbor_graph.hpp"
#include "team/mpi_neighbors.hpp"

namespace shoal {

class neighborhood {
 public:
  // The ranks tell each other their neighbours; collective. Throws std::invalid_argument on every rank if the
  // neighbours that the MPI names do not fit together, or if a rank has too many.
  neighborhood(communicator& over, MPI_Comm users, call_form form, const settings& set);
  neighborhood(const neighborhood&) = delete;
  neighborhood& operator=(const neighborhood&) = delete;

  communicator& over() { return *over_; }
  // The number of blocks that this rank receives, and that it sends.
  int sources() const { return static_cast<int>(peers_.sources.size()); }
  int destinations() const { return static_cast<int>(peers_.destinations.size()); }
  const neighbor_ranks& peers() const { return peers_; }
  // The neighbours of all ranks.
  const neighbor_graph& graph() const { return *graph_; }
  // Whether nonblocking calls of the MPI's own match blocks in the same way as blocking ones.
  bool is_matched_alike() const { return is_matched_alike_; }
  // The algorithms that the user names.
  named_algorithms<decision>& named() { return named_; }
  prepared_algorithms& algorithms() { return algorithms_; }
  const prepared_algorithms& algorithms() const { return algorithms_; }

 private:
  std::shared_ptr<communicator> over_;
  neighbor_ranks peers_;
  std::shared_ptr<const neighbor_graph> graph_;
  bool is_matched_alike_;
  prepared_algorithms algorithms_;
  named_algorithms<decision> named_;
};

}  // namespace shoal
