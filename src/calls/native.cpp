#include "calls/native.hpp"

#include <limits>
#include <vector>

#include "team/errors.hpp"
#include "transport/mpi_newer.hpp"

namespace shoal {

int peers_of(MPI_Comm comm) {
  int ranks = 0, inter = 0;
  if (comm == MPI_COMM_NULL) return 0;
  PMPI_Comm_test_inter(comm, &inter);
  inter ? PMPI_Comm_remote_size(comm, &ranks) : PMPI_Comm_size(comm, &ranks);
  return ranks;
}

bool fits_int(std::int64_t value) {
  return value >= std::numeric_limits<int>::min() && value <= std::numeric_limits<int>::max();
}

int count_too_large(MPI_Comm comm) {
  return raise_error(comm, MPI_ERR_COUNT, "this MPI library has no collective for counts above 2147483647");
}

namespace {

// `out` stays empty if there are no values, or no ranks, as with MPI_IN_PLACE.
template <typename Integer>
bool narrow(const Integer* values, int ranks, std::vector<int>& out) {
  for (int i = 0; values && i < ranks; ++i) {
    if (!fits_int(values[i])) return false;
    out.push_back(static_cast<int>(values[i]));
  }
  return true;
}

// Counts and displacements of one side; none with MPI_IN_PLACE.
struct narrowed_blocks {
  narrowed_blocks(bool in_place, const MPI_Count* wide_counts, const MPI_Aint* wide_at, MPI_Comm comm) {
    const int ranks = in_place ? 0 : peers_of(comm);
    fit = narrow(wide_counts, ranks, counts) && narrow(wide_at, ranks, at);
  }
  std::vector<int> counts, at;
  bool fit;
};

}  // namespace

int native_alltoall_c(SHOAL_EQUAL(MPI_Count, MPI_Aint)) {
  if (PMPI_Alltoall_c) return PMPI_Alltoall_c(SHOAL_EQUAL_NAMES);
  if (!fits_int(sendcount) || !fits_int(recvcount)) return count_too_large(comm);
  return PMPI_Alltoall(sendbuf, static_cast<int>(sendcount), sendtype, recvbuf, static_cast<int>(recvcount), recvtype,
                       comm);
}

int native_alltoallv_c(SHOAL_SIZED(MPI_Count, MPI_Aint)) {
  if (PMPI_Alltoallv_c) return PMPI_Alltoallv_c(SHOAL_SIZED_NAMES);
  const narrowed_blocks sent(sendbuf == MPI_IN_PLACE, sendcounts, sdispls, comm);
  const narrowed_blocks received(false, recvcounts, rdispls, comm);
  if (!sent.fit || !received.fit) return count_too_large(comm);
  return PMPI_Alltoallv(sendbuf, sent.counts.data(), sent.at.data(), sendtype, recvbuf, received.counts.data(),
                        received.at.data(), recvtype, comm);
}

int native_alltoallw_c(SHOAL_TYPED(MPI_Count, MPI_Aint)) {
  if (PMPI_Alltoallw_c) return PMPI_Alltoallw_c(SHOAL_TYPED_NAMES);
  const narrowed_blocks sent(sendbuf == MPI_IN_PLACE, sendcounts, sdispls, comm);
  const narrowed_blocks received(false, recvcounts, rdispls, comm);
  if (!sent.fit || !received.fit) return count_too_large(comm);
  return PMPI_Alltoallw(sendbuf, sent.counts.data(), sent.at.data(), sendtypes, recvbuf, received.counts.data(),
                        received.at.data(), recvtypes, comm);
}

int native_allgather_c(SHOAL_EQUAL(MPI_Count, MPI_Aint)) {
  if (PMPI_Allgather_c) return PMPI_Allgather_c(SHOAL_EQUAL_NAMES);
  if (!fits_int(sendcount) || !fits_int(recvcount)) return count_too_large(comm);
  return PMPI_Allgather(sendbuf, static_cast<int>(sendcount), sendtype, recvbuf, static_cast<int>(recvcount), recvtype,
                        comm);
}

int native_allgatherv_c(SHOAL_GATHERED(MPI_Count, MPI_Aint)) {
  if (PMPI_Allgatherv_c) return PMPI_Allgatherv_c(SHOAL_GATHERED_NAMES);
  const int ranks = peers_of(comm);
  std::vector<int> received, received_at;
  if (!fits_int(sendcount) || !narrow(recvcounts, ranks, received) || !narrow(displs, ranks, received_at))
    return count_too_large(comm);
  return PMPI_Allgatherv(sendbuf, static_cast<int>(sendcount), sendtype, recvbuf, received.data(), received_at.data(),
                         recvtype, comm);
}

}  // namespace shoal
