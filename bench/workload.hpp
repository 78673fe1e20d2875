// The buffers of an all-to-all that is measured: their contents, and whether all arrived.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>
#include <vector>

namespace shoal::bench {

// One rank's buffers for MPI_Alltoallv, packed without gaps. Distributions: see block_sizes.hpp.
class workload {
 public:
  workload(const std::string& distribution, std::int64_t size, int rank, int ranks);

  bool uniform() const { return uniform_; }
  void fill();                // the send buffer with its contents, the receive buffer with a guard
  void copy();                // the send buffer into the receive buffer, block by block, as much as fits
  std::string wrong() const;  // what was received wrong; empty if nothing

  std::vector<std::byte> send, recv;
  std::vector<int> send_counts, send_at, recv_counts, recv_at;

 private:
  bool uniform_;
  int rank_, ranks_;
};

}  // namespace shoal::bench
