#include "nbx.hpp"

#include "transport/mpi_error.hpp"

namespace shoal {

bool nbx::deliver(parcels& held, bool failed) {
  const int tag = tag_ + deliveries_++ % 2;
  parcels here = held;
  here.clear();
  send_all(held, tag, here);
  int mine = failed, all = 0, ended = 0;
  MPI_Request reduction = MPI_REQUEST_NULL;
  while (!ended) {
    const bool moved = take_in(tag, here);
    if (reduction != MPI_REQUEST_NULL) {
      require(PMPI_Test(&reduction, &ended, MPI_STATUS_IGNORE), "MPI_Test");
    } else {
      int received = 0;
      require(PMPI_Testall(static_cast<int>(sends_.size()), sends_.data(), &received, MPI_STATUSES_IGNORE),
              "MPI_Testall");
      if (received) require(PMPI_Iallreduce(&mine, &all, 1, MPI_INT, MPI_MAX, comm_, &reduction), "MPI_Iallreduce");
    }
    moved || ended ? wait_.progressed() : wait_.idle();
  }
  held = std::move(here);
  return all != 0;
}

void nbx::send_all(const parcels& held, int tag, parcels& here) {
  int rank = 0;
  require(PMPI_Comm_rank(comm_, &rank), "MPI_Comm_rank");
  sends_.clear();
  held.each([&](const parcels::label& what, const std::byte* block, const std::byte* parcel) {
    if (what.destination == rank) return here.add(what, block);
    require(PMPI_Issend(parcel, static_cast<int>(held.bytes_of(what)), MPI_BYTE, what.destination, tag, comm_,
                        &sends_.emplace_back(MPI_REQUEST_NULL)),
            "MPI_Issend");
  });
}

bool nbx::take_in(int tag, parcels& here) {
  int found = 0, bytes = 0;
  MPI_Message message = MPI_MESSAGE_NULL;
  MPI_Status status;
  require(PMPI_Improbe(MPI_ANY_SOURCE, tag, comm_, &found, &message, &status), "MPI_Improbe");
  if (!found) return false;
  require(PMPI_Get_count(&status, MPI_BYTE, &bytes), "MPI_Get_count");
  require(PMPI_Mrecv(here.grow(static_cast<std::size_t>(bytes)), bytes, MPI_BYTE, &message, MPI_STATUS_IGNORE),
          "MPI_Mrecv");
  return true;
}

}  // namespace shoal
