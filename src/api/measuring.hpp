// Measures a handful of exchanges on a communicator, so that choosing knows what they cost there.
#pragma once

#include "api/communicator.hpp"

namespace shoal {

// Exchanges of equal blocks of up to five sizes, and four between them where they leave the choice open, by the calls
// of one kind: `uniform` MPI_Alltoall's, else MPI_Alltoallv's, and these with most blocks empty too. Collective; at
// most some hundreds of exchanges of a size, and 1 MiB of scratch memory for each direction.
measured_exchanges measure_exchanges(communicator& on, bool uniform);

}  // namespace shoal
