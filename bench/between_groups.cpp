#include "between_groups.hpp"

#include <shoal/shoal.h>

#include <stdexcept>
#include <string>

#include "state.hpp"

namespace shoal::bench {

void between_groups::run(const std::string& variant, MPI_Comm comm) {
  const auto gather = variant == "native" ? PMPI_Allgather : shoal_allgather;
  const int sent = w_.sends() ? w_.size() : 0, received = w_.sends() ? 0 : w_.size();
  if (gather(w_.memory.data(), sent, MPI_BYTE, w_.memory.data(), received, MPI_BYTE, comm) != MPI_SUCCESS)
    throw std::runtime_error(variant + " failed");
}

const phase_clock* between_groups::phases(MPI_Comm comm) const {
  std::string why;
  return phases_of(process::get().groups_of(comm, true, why));
}

MPI_Comm make_intercommunicator(int senders) {
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm group, both;
  PMPI_Comm_split(MPI_COMM_WORLD, rank < senders, rank, &group);
  PMPI_Intercomm_create(group, 0, MPI_COMM_WORLD, rank < senders ? senders : 0, 0, &both);
  PMPI_Comm_free(&group);
  return both;
}

}  // namespace shoal::bench
