// The ranks of one of the user's communicators as shoal_exchange() serves them.
#pragma once

#include <mpi.h>

#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "execute/sparse_exchange.hpp"
#include "team/failure_watch.hpp"
#include "team/own_communicator.hpp"
#include "team/usage.hpp"
#include "transport/mpi_transport.hpp"

namespace shoal {

// One exchange. The memory of the blocks stays the caller's, or is here.
struct sparse_turn {
  std::vector<outgoing_block> blocks;
  std::vector<std::byte> packed;
  bool failed = false;  // this rank cannot take part

  bool is_done = false;        // none of these before
  std::exception_ptr failure;  // of a transfer
  bool was_exchanged = false;  // no rank has failed
  arrived_blocks arrived;
  double begin = 0;
};

class sparse_ranks {
 public:
  // Takes over `own`, a communicator of Shoal's for the ranks of `users`.
  sparse_ranks(MPI_Comm users, MPI_Comm own, wait_mode mode);
  ~sparse_ranks();
  sparse_ranks(const sparse_ranks&) = delete;
  sparse_ranks& operator=(const sparse_ranks&) = delete;

  int ranks() const { return over_.ranks(); }
  own_communicator& own() { return own_; }

  // Exchanges go one behind the other, in the order in which they are started, which is the same on all ranks. `one` stays
  // until it is done. All fail from the first on that could not go on to its end.
  void start(sparse_turn& one);
  // Moves the first of them; whether anything moved.
  bool move() noexcept;
  // Until it is done.
  void wait_for(const sparse_turn& one);

  // For the thread that is in an exchange.
  std::recursive_mutex& lock() { return lock_; }
  const usage& used() const { return used_; }

 private:
  bool progress_of(sparse_turn& one, bool& moved);
  void end(sparse_turn& one);

  own_communicator own_;
  mpi_transport over_;
  failure_watch failures_{own_, over_};
  waiting wait_;
  std::unique_ptr<sparse_exchange> exchange_ = std::make_unique<sparse_exchange>(over_, wait_);
  std::deque<sparse_turn*> turns_;
  bool has_begun_ = false;     // the first of them
  std::exception_ptr broken_;  // messages are left that nobody will end
  bool is_moving_ = false;     // polling may make the MPI move, and that all that is under way
  usage used_;
  std::recursive_mutex lock_;
};

}  // namespace shoal
