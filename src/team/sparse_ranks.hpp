// The ranks of one of the user's communicators as shoal_exchange() serves them.
#pragma once

#include <mpi.h>

#include <deque>
#include <mutex>
#include <vector>

#include "execute/sparse_exchange.hpp"
#include "team/usage.hpp"
#include "transport/mpi_transport.hpp"

namespace shoal {

// One exchange. The memory of the blocks stays the caller's.
struct sparse_turn {
  std::vector<outgoing_block> blocks;
  bool failed = false;  // this rank cannot take part

  bool is_done = false;        // none of these before
  std::exception_ptr failure;  // of a transfer
  bool was_exchanged = false;  // no rank has failed
  arrived_blocks arrived;
  double begin = 0;
};

class sparse_ranks {
 public:
  // Takes over `own`, a communicator of Shoal's; MPI_COMM_SELF stays open.
  sparse_ranks(MPI_Comm own, wait_mode how);
  ~sparse_ranks();
  sparse_ranks(const sparse_ranks&) = delete;
  sparse_ranks& operator=(const sparse_ranks&) = delete;

  int ranks() const { return over_.ranks(); }
  MPI_Comm own() const { return own_; }

  // Exchanges go one behind the other, in the order in which they are started, which is the same on all ranks. `one` stays
  // until it is done.
  void start(sparse_turn& one);
  // Moves the first of them; whether anything moved.
  bool move() noexcept;
  // Until it is done.
  void wait_for(const sparse_turn& one);

  // For the thread that is in an exchange.
  std::recursive_mutex& lock() { return lock_; }
  const usage& used() const { return used_; }

 private:
  void end(sparse_turn& one);

  MPI_Comm own_;
  mpi_transport over_;
  waiting wait_;
  sparse_exchange exchange_{over_, wait_};
  std::deque<sparse_turn*> turns_;
  bool has_begun_ = false;  // the first of them
  bool is_moving_ = false;  // polling may make the MPI move, and that all that is under way
  usage used_;
  std::recursive_mutex lock_;
};

}  // namespace shoal
