// MPI_Alltoallw as parallel Fourier transforms in Python use it: each rank cuts a matrix into strips of columns, one
// for each rank.
#pragma once

#include <shoal/shoal.h>

#include <cstdint>
#include <string>
#include <vector>

#include "learn/communicator.hpp"
#include "measured.hpp"

namespace shoal::bench {

// A strip has up to 16 rows of equal length, with `bytes` bytes in all. It arrives without gaps.
class parts_of_arrays final : public measured {
 public:
  parts_of_arrays(std::int64_t bytes, int rank, int ranks);
  ~parts_of_arrays() override;
  parts_of_arrays(const parts_of_arrays&) = delete;
  parts_of_arrays& operator=(const parts_of_arrays&) = delete;

  // The driver asks only for algorithms, `auto` and the MPI's own.
  bool takes(const std::string&) const override { return true; }
  void make_ready(const std::string&, MPI_Comm) override {}
  void run(const std::string& variant, MPI_Comm comm) override;
  int calls_until_settled() const override { return 25; }
  const phase_clock* phases(MPI_Comm comm) const override;

  void fill() override;
  std::string wrong() const override;

 private:
  int rank_, ranks_, rows_, piece_;
  std::vector<std::byte> send_, recv_;
  std::vector<int> ones_, zeros_, pieces_, at_;
  std::vector<MPI_Datatype> strips_, bytes_;
};

}  // namespace shoal::bench
