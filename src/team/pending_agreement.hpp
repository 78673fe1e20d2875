// An agreement that no rank waits for: numbers go in, and some calls later the largest of all ranks come out.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "transport/waiting.hpp"

namespace shoal {

// It runs over the user's communicator as a nonblocking collective of the MPI's own, begun by every rank in the same call;
// so nothing has to be made for it, and it moves whenever the MPI does.
class pending_agreement {
 public:
  // All ranks of `comm` give as many numbers. Throws mpi_error.
  pending_agreement(MPI_Comm comm, std::vector<std::int64_t> mine);
  // Leaves nothing behind: waits, unless some rank never began.
  ~pending_agreement();
  pending_agreement(const pending_agreement&) = delete;
  pending_agreement& operator=(const pending_agreement&) = delete;

  // Whether the largest numbers are here.
  bool test();
  // The same, once in every call: so that it is known how long the others needed to come, where that was longer than a call.
  void look();
  double apart() const { return apart_; }
  // Until they are.
  std::span<const std::int64_t> wait(waiting& waits);
  // Until they are, or until this number of seconds has passed; whether they are.
  bool wait_for(double seconds, waiting& waits);
  std::span<const std::int64_t> largest() const { return largest_; }
  // Some rank may never begin it: it is left as it is.
  void abandon();
  // Waits for at most this number of seconds, and abandons it then: false.
  bool wait_or_abandon(double seconds, waiting& waits) noexcept;
  // Nobody will ask for it any more: where that keeps its communicator from being disconnected, it is abandoned at once.
  void stop_asking();

 private:
  MPI_Comm comm_;
  // Lives until the MPI is done with it.
  std::vector<std::int64_t> mine_, largest_;
  MPI_Request request_ = MPI_REQUEST_NULL;
  bool abandoned_ = false;
  int looks_ = 0;
  double began_ = PMPI_Wtime(), apart_ = 0;
};

}  // namespace shoal
