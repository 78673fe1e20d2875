// Writes schedules as files for other programs: a C source with its own MPI_Alltoall, and GOAL for LogGOPSim.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "schedule/schedule.hpp"

namespace shoal {

// What is written: the programs of ranks 0..P-1 in order.
struct emission {
  std::span<const schedule> programs;
  std::string title;               // what it is and how it was made, for people; may have several lines
  std::vector<std::string> hosts;  // emit_c: the machine each rank must be on; empty: any
};

// A C99 file that needs only MPI, with an MPI_Alltoall that follows the schedules of an all-to-all on a communicator of
// as many ranks, on these hosts if there are any, and calls PMPI_Alltoall for every other. Its size is proportional to
// the operations of all ranks: tables, walked by one engine. Where blocks are cut a message is one part. Throws
// std::invalid_argument for messages of several parts.
std::string emit_c(const emission& what);

// LogGOPSim's GOAL: blocks of `block_bytes`, cut where the schedule says so; a token is one byte, a copy is a
// calculation of no length.
std::string emit_goal(const emission& what, std::int64_t block_bytes);

// For every transfer its place among those of the same kind with the same peer, which makes a tag that pairs a send
// with its receive; 0 for copies.
std::vector<int> transfer_numbers(const schedule& program);

}  // namespace shoal
