// Which ranks tell the user what they did. Rank 0 of the world does. But rank 0 may do no more than read files for the
// others, whose exchanges it never sees. So the first rank of a communicator without rank 0 tells too, if at least half
// of the world's ranks are in that communicator.
//
// Two such communicators share a rank, so there are one or two in most programs. Smaller ones would be too many: a grid
// of 1000 ranks has 60 rows and columns without rank 0, which do what those of rank 0 do. A rank cannot know what rank 0
// saw without a message, and rank 0 could wait for ever for messages of ranks that have failed or lack Shoal.
#pragma once

#include <mpi.h>

namespace shoal {

// Whether this rank is the first one of such a communicator, which may have two groups. Local.
bool tells_instead_of_rank_0(MPI_Comm comm);

}  // namespace shoal
