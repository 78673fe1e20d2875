// What the ranks of a program send each other, recorded for `shoal bench` to repeat.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "calls/exchange_call.hpp"

namespace shoal {

// The bytes of the blocks of MPI_Alltoall, MPI_Alltoallv and MPI_Alltoallw among all ranks of the program, on average a
// call.
class traffic_record {
 public:
  // Whether calls on `comm` are recorded: its ranks are those of MPI_COMM_WORLD in their order.
  static bool is_of(MPI_Comm comm);
  // Adds one such call. Several threads may call this at once.
  void add(const exchange_call& call);
  // Rank 0 writes a matrix in Matrix Market form. Collective. Writes nothing if no call was recorded.
  void write(const std::string& path) const;

 private:
  bool is_of_all_ranks() const;

  std::mutex lock_;
  std::int64_t calls_ = 0;  // the same on every rank, as the calls are collective
  std::vector<double> sent_;
};

}  // namespace shoal
