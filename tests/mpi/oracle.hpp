// An exchange with everything MPI allows, and what it must do to every byte of its buffers. What a block holds is a
// function of its origin and its destination, so no other collective is asked for the right answer.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>
#include <vector>

#include "buffer.hpp"

namespace shoal {

// How a job's spec is asked for; by nobody: it is not, and what was asked for of the communicator before decides.
enum class asked { by_call, by_communicator, by_nobody };

// Send and receive may differ between ranks; all else is the same on all ranks of the communicator.
struct job {
  MPI_Comm comm = MPI_COMM_WORLD;
  std::string spec = "auto";
  asked with = asked::by_call;
  scalar base = scalar::byte;
  bool uniform = false;                            // alltoall
  bool typed = false;                              // alltoallw
  bool in_place = false;                           // then scalars must be symmetric, and `send` is not used
  bool wide_counts = false;                        // the _c form
  std::vector<std::vector<std::int64_t>> scalars;  // of the block from [origin] to [destination]
  side send, recv;
};

std::vector<std::vector<std::int64_t>> equal_blocks(int ranks, std::int64_t scalars);

// Runs the job on all ranks of its communicator and checks every byte of both buffers.
void perform(const job& j);

// The spec last used on a communicator.
std::string used_spec(MPI_Comm comm);
std::string explained(MPI_Comm comm);

// How many reductions Shoal has made on a communicator that it knows.
std::int64_t agreements_on(MPI_Comm comm);

}  // namespace shoal
