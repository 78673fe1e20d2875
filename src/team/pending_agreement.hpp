// An agreement that no rank has to wait for: each rank gives numbers, and some calls later gets the largest of all.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "transport/waiting.hpp"

namespace shoal {

// It runs over the user's communicator as a nonblocking collective of the MPI's own, which every rank begins in the
// same call. So nothing has to be made for it, and it moves whenever the MPI does.
class pending_agreement {
 public:
  // All ranks of `comm` give equally many numbers. Throws mpi_error.
  pending_agreement(MPI_Comm comm, std::vector<std::int64_t> mine);
  // Waits for the end, so that nothing is left behind, unless the agreement was abandoned.
  ~pending_agreement();
  pending_agreement(const pending_agreement&) = delete;
  pending_agreement& operator=(const pending_agreement&) = delete;

  // Whether the largest numbers have arrived.
  bool test();
  // Tests, once in every call of the program. So apart() can tell how many seconds the numbers took to arrive; 0 if
  // they took no longer than one call.
  void look();
  double apart() const { return apart_; }
  // Seconds after which the numbers had not arrived yet when this rank last looked.
  double missing() const { return missing_; }
  // Seconds since this rank began it.
  double age() const { return PMPI_Wtime() - began_; }
  // Waits until the numbers have arrived, and returns them.
  std::span<const std::int64_t> wait(waiting& waits);
  // Waits until the numbers have arrived, or for this number of seconds at most. Returns whether they have arrived.
  bool wait_for(double seconds, waiting& waits);
  std::span<const std::int64_t> largest() const { return numbers_->largest; }
  // Leaves the agreement as it is, because some rank may never begin it.
  void abandon() noexcept;
  // As wait_for(), but abandons the agreement if the numbers have not arrived, or if the communicator has failed.
  bool wait_or_abandon(double seconds, waiting& waits) noexcept;
  // Leaves the agreement to the MPI, which goes on with it and keeps the communicator meanwhile, even if the program
  // frees it. Returns whether it has ended already. Calls for other agreements clean up behind it.
  static bool let_go(std::unique_ptr<pending_agreement> agreement) noexcept;
  // Cleans up behind agreements that were let go, and returns how many have not ended.
  static int left_to_mpi() noexcept;
  // Waits until all of these have ended, or for this number of seconds at most. Other ranks may wait for them, and some
  // MPIs move nothing while they end.
  static void wait_for_left(double seconds) noexcept;
  // Nobody will ask for the numbers any more. If the agreement keeps its communicator from being disconnected, it is
  // abandoned at once.
  void stop_asking();

 private:
  bool is_abandoned() const { return !numbers_; }
  bool has_gone() noexcept;

  // They live until the MPI is done with them.
  struct numbers {
    explicit numbers(std::vector<std::int64_t> own) : mine(std::move(own)), largest(mine.size()) {}
    std::vector<std::int64_t> mine, largest;
  };

  MPI_Comm comm_;
  std::unique_ptr<numbers> numbers_;                                     // null once the agreement is abandoned
  MPI_Request request_ = MPI_REQUEST_NULL, keeping_ = MPI_REQUEST_NULL;  // the latter keeps the communicator
  int looks_ = 0;
  double began_ = PMPI_Wtime(), apart_ = 0, missing_ = 0;
};

}  // namespace shoal
