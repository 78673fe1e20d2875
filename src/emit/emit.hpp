// Writes schedules as files for other programs: a C source with its own MPI_Alltoall, and GOAL for LogGOPSim.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "schedule/schedule.hpp"

namespace shoal {

// What to write: the schedules of ranks 0..P-1, in order.
struct emission {
  std::span<const schedule> programs;
  std::string title;               // for people: what the file is and how it was made; may have several lines
  std::vector<std::string> hosts;  // for emit_c: the machine on which each rank must be; empty: any
};

// A C99 file that needs only MPI. Its MPI_Alltoall follows the schedules on communicators of as many ranks, on these
// hosts if any are named, and calls PMPI_Alltoall on all others. The file has one engine, which walks through tables,
// so its size is proportional to the number of operations of all ranks. If blocks are cut into parts, each message must
// be one part. Throws std::invalid_argument for messages of several parts.
std::string emit_c(const emission& what);

// The schedules in GOAL, for LogGOPSim. Blocks have `block_bytes` bytes, and are cut into parts if the schedule says
// so. A token is one byte, and a copy is a calculation that takes no time.
std::string emit_goal(const emission& what, std::int64_t block_bytes);

// Numbers the transfers of each kind with each peer from 0 on, in order. As tags, these numbers pair a send with its
// receive. Copies get 0.
std::vector<int> transfer_numbers(const schedule& program);

}  // namespace shoal
