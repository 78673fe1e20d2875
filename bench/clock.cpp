#include "clock.hpp"

#include <time.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <functional>
#include <string>
#include <thread>

namespace shoal::bench {

namespace {

constexpr int rounds = 20;
constexpr double spin_seconds = 200e-6;

double local_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Whether all ranks run under one kernel (on one machine, in containers, on emulated hosts) and so share its clock.
bool one_kernel(MPI_Comm comm) {
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  const auto hash = static_cast<std::int64_t>(std::hash<std::string>()(boot) >> 1);
  std::array<std::int64_t, 2> extremes{hash, -hash};
  PMPI_Allreduce(MPI_IN_PLACE, extremes.data(), 2, MPI_INT64_T, MPI_MAX, comm);
  return !boot.empty() && extremes[0] == -extremes[1];
}

}  // namespace

common_clock::common_clock(MPI_Comm comm) {
  if (one_kernel(comm)) return;
  int rank = 0, ranks = 0;
  PMPI_Comm_rank(comm, &rank);
  PMPI_Comm_size(comm, &ranks);
  for (int peer = 1; peer < ranks; ++peer) {
    round_trip_ = rank == peer ? 1e9 : round_trip_;
    for (int i = 0; i < rounds && (rank == 0 || rank == peer); ++i) {
      double theirs = 0;
      if (rank == 0) {
        PMPI_Recv(nullptr, 0, MPI_BYTE, peer, 1, comm, MPI_STATUS_IGNORE);
        theirs = local_now();
        PMPI_Send(&theirs, 1, MPI_DOUBLE, peer, 1, comm);
        continue;
      }
      const double begin = local_now();
      PMPI_Send(nullptr, 0, MPI_BYTE, 0, 1, comm);
      PMPI_Recv(&theirs, 1, MPI_DOUBLE, 0, 1, comm, MPI_STATUS_IGNORE);
      const double end = local_now();
      if (end - begin < round_trip_) {
        round_trip_ = end - begin;
        offset_ = theirs - (begin + end) / 2;
      }
    }
  }
}

double common_clock::now() const { return local_now() + offset_; }

void common_clock::wait_until(double when, bool politely) const {
  const double spin = politely ? 0 : spin_seconds;
  for (double left = when - now(); left > spin; left = when - now())
    std::this_thread::sleep_for(std::chrono::duration<double>(left - spin));
  while (now() < when) {
  }
}

}  // namespace shoal::bench
