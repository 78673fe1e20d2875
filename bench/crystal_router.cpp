#include "crystal_router.hpp"

#include <utility>

#include "transport/mpi_error.hpp"

namespace shoal {

crystal_router::crystal_router(MPI_Comm comm, waiting& wait) : comm_(comm), wait_(wait) {
  require(PMPI_Comm_rank(comm, &rank_), "MPI_Comm_rank");
  require(PMPI_Comm_size(comm, &ranks_), "MPI_Comm_size");
}

// If the number of ranks is odd, the rank in the middle is its own image: it sends to the first rank of the upper half.
void crystal_router::deliver(parcels& held) {
  int first = 0, count = ranks_;
  for (int step = 0; count > 1; ++step) {
    const int lower = (count + 1) / 2, upper = first + lower, image = 2 * first + count - 1 - rank_;
    const bool below = rank_ < upper;
    parcels stay(held.most_inside()), go(held.most_inside());
    held.each([&](const parcels::label& what, const std::byte* block, const std::byte*) {
      ((what.destination < upper) == below ? stay : go).add(what, block);
    });
    MPI_Request sent = MPI_REQUEST_NULL;
    require(PMPI_Isend(go.message().data(), static_cast<int>(go.message().size()), MPI_BYTE,
                       image == rank_ ? upper : image, step, comm_, &sent),
            "MPI_Isend");
    if (image != rank_) take_in(image, step, stay);
    if (count % 2 && rank_ == upper) take_in(upper - 1, step, stay);
    wait_for(sent);
    held = std::move(stay);
    first = below ? first : upper;
    count = below ? lower : count - lower;
  }
}

void crystal_router::take_in(int from, int step, parcels& into) {
  int found = 0, bytes = 0;
  MPI_Status status;
  for (;;) {
    require(PMPI_Iprobe(from, step, comm_, &found, &status), "MPI_Iprobe");
    if (found) break;
    wait_.idle();
  }
  wait_.progressed();
  require(PMPI_Get_count(&status, MPI_BYTE, &bytes), "MPI_Get_count");
  parcels came(into.most_inside());
  came.message().resize(static_cast<std::size_t>(bytes));
  require(PMPI_Recv(came.message().data(), bytes, MPI_BYTE, from, step, comm_, MPI_STATUS_IGNORE), "MPI_Recv");
  into.add(came);
}

void crystal_router::wait_for(MPI_Request& sent) {
  for (int ended = 0; !ended;) {
    require(PMPI_Test(&sent, &ended, MPI_STATUS_IGNORE), "MPI_Test");
    ended ? wait_.progressed() : wait_.idle();
  }
}

}  // namespace shoal
