// What the ranks of a program send each other, recorded for `shoal bench` to repeat.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

namespace shoal {

// The blocks of MPI_Alltoall and MPI_Alltoallv among all ranks of the program, on average a call.
class traffic_record {
 public:
  // A call on `comm`, left out where it has not the ranks of MPI_COMM_WORLD in their order. Threads may call it.
  void add(MPI_Comm comm, const std::function<std::int64_t(int destination)>& bytes);
  // A matrix in Matrix Market form, by rank 0. Collective; nothing where no call was recorded.
  void write(const std::string& path) const;

 private:
  std::mutex lock_;
  std::int64_t calls_ = 0;  // the same on every rank, as the calls are collective
  std::vector<double> sent_;
};

}  // namespace shoal
