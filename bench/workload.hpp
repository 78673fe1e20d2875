// Sizes and contents of the exchanges that are measured; pure functions, so every rank knows what it must receive.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>
#include <vector>

namespace shoal::bench {

// Block sizes in bytes: `uniform` all of `size`; `random` between 0 and `size`; `power` (Pareto, mean about size/4, never
// above 16 sizes); `sparse` nine of ten empty, the others of `size`; `hot` 8 bytes but one row of `size`.
const std::vector<std::string>& distributions();
std::int64_t block_bytes(const std::string& distribution, std::int64_t size, int origin, int destination);

// One rank's buffers for MPI_Alltoallv, packed without gaps.
class workload {
 public:
  workload(const std::string& distribution, std::int64_t size, int rank, int ranks);

  bool uniform() const { return uniform_; }
  void fill();               // the send buffer with its contents, the receive buffer with a guard
  void copy();               // what is sent over what is received, block by block, as much as fits
  std::string wrong() const; // empty, or what was received wrong

  std::vector<std::byte> send, recv;
  std::vector<int> send_counts, send_at, recv_counts, recv_at;

 private:
  bool uniform_;
  int rank_, ranks_;
};

}  // namespace shoal::bench
