// Whether requests have ended. Asking an MPI usually makes it move. If the MPI is moving Shoal's exchanges
// (team/progress), it must not be made to move once more.
#pragma once

#include <mpi.h>

#include <vector>

namespace shoal {

// While an object of this class lives, the MPI has called this thread to move what is under way.
class inside_mpi {
 public:
  inside_mpi() { ++depth_; }
  ~inside_mpi() { --depth_; }
  inside_mpi(const inside_mpi&) = delete;
  inside_mpi& operator=(const inside_mpi&) = delete;
  static bool now() { return depth_ > 0; }

 private:
  static thread_local int depth_;
};

// As PMPI_Test.
int test_one(MPI_Request& request, bool& ended);
// As PMPI_Testsome, for messages on a communicator that returns errors. `one_rank`: that has only one rank. Errors are
// returned.
int test_some(bool one_rank, std::vector<MPI_Request>& requests, int& count, std::vector<int>& indices,
              std::vector<MPI_Status>& statuses);

// As PMPI_Cancel. Errors are returned.
void cancel(MPI_Request& request);

// As PMPI_Comm_free, for a communicator of Shoal's own that returns errors. Messages that have come and that nobody has
// received, since a call failed on this rank, are dropped, unless the MPI has called Shoal: MPICH refuses to free a
// communicator that has any, and they could meet those of a later one.
void free_own(MPI_Comm& comm);

}  // namespace shoal
