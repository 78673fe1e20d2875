// The ranks of one of the user's communicators as shoal_exchange() serves them.
#pragma once

#include <mpi.h>

#include <mutex>
#include <span>

#include "execute/parcel_router.hpp"
#include "execute/sparse_exchange.hpp"
#include "team/usage.hpp"
#include "transport/mpi_transport.hpp"

namespace shoal {

class sparse_ranks {
 public:
  // Takes over `own`, a communicator of Shoal's; MPI_COMM_SELF stays open.
  sparse_ranks(MPI_Comm own, wait_mode how);
  ~sparse_ranks();
  sparse_ranks(const sparse_ranks&) = delete;
  sparse_ranks& operator=(const sparse_ranks&) = delete;

  int ranks() const { return over_.ranks(); }
  MPI_Comm own() const { return own_; }

  // As exchange_sparsely(). Throws what failed in a transfer.
  bool exchange(std::span<const outgoing_block> blocks, bool failed, arrived_blocks& arrived);

  // For the thread that is in an exchange.
  std::mutex& lock() { return lock_; }
  const usage& used() const { return used_; }

 private:
  MPI_Comm own_;
  mpi_transport over_;
  waiting wait_;
  sparse_exchange exchange_{over_, wait_};
  usage used_;
  std::mutex lock_;
};

}  // namespace shoal
