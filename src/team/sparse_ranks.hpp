// The ranks of one of the user's communicators, among which shoal_exchange() exchanges.
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

// One exchange. The blocks are in memory of the caller's or in `packed`.
struct sparse_turn {
  std::vector<outgoing_block> blocks;
  std::vector<std::byte> packed;
  bool failed = false;  // this rank cannot take part

  bool is_done = false;        // the outcome below is not valid before
  std::exception_ptr failure;  // of a transfer
  bool was_exchanged = false;  // all ranks could take part
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

  // Exchanges run one after the other, in the order in which they are started, which is the same on all ranks. `one`
  // stays until it is done. If an exchange cannot go on to its end, it fails, and so do all later ones.
  void start(sparse_turn& one);
  // Moves the first exchange that is not done. Returns whether anything moved.
  bool move() noexcept;
  // Waits until the exchange is done.
  void wait_for(const sparse_turn& one);

  // Held by the thread that is in an exchange.
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
  bool has_begun_ = false;     // the first exchange in turns_
  std::exception_ptr broken_;  // why no exchange can succeed any more: messages are left that nobody will end
  bool is_moving_ = false;     // move() runs: polling may make the MPI move, which calls move() again
  usage used_;
  std::recursive_mutex lock_;
};

}  // namespace shoal
