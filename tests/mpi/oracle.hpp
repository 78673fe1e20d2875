// An exchange with everything that MPI allows, and what it must do to every byte of its buffers. The contents of a
// block are a function of its origin and its destination, so no other collective is needed to know the right result.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>
#include <vector>

#include "buffer.hpp"

namespace shoal {

// How a job asks for its spec. by_nobody: the job does not ask, and what the communicator was asked for before decides.
enum class asked { by_call, by_communicator, by_nobody };

// `send` and `recv` may differ between ranks. All else is the same on all ranks of the communicator.
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

// How many agreements the ranks have reached on a communicator; 0 if Shoal has no state for it.
std::int64_t agreements_on(MPI_Comm comm);

}  // namespace shoal
