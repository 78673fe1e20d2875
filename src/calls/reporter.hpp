// Collects what this rank has to report, and tells the user at the end if it is for this rank to tell.
//
// Rank 0 of the world tells what it did. But rank 0 may do no more than read files for the others, whose exchanges it
// never sees. So the first rank of a communicator without rank 0 tells too, if at least half of the world's ranks are in
// that communicator.
//
// Two such communicators share a rank, so there are one or two in most programs. Smaller ones would be too many: a grid
// of 1000 ranks has 60 rows and columns without rank 0, which do what those of rank 0 do. A rank cannot know what rank 0
// saw without a message, and rank 0 could wait for ever for messages of ranks that have failed or lack Shoal.
#pragma once

#include <mpi.h>

#include <atomic>
#include <mutex>
#include <string>

#include "calls/report.hpp"
#include "calls/users_communicator.hpp"
#include "learn/job_state.hpp"
#include "team/usage.hpp"

namespace shoal {

class reporter {
 public:
  // `job` must outlive this.
  explicit reporter(job_state& job) : job_(job) {}

  // This rank has made a call on `comm`. Whatever goes wrong here must not change what the call returns.
  void heed(MPI_Comm comm) noexcept;
  // Adds what was done on a communicator that the program does not use any more.
  void add(const users_communicator& held);
  // Adds a call that was not Shoal's to serve. What goes wrong is ignored, as in heed().
  void add_left(const std::string& call, const std::string& reason, double seconds) noexcept;
  // Adds an exchange that ended after its communicator was added.
  void add_late(const std::string& call, int ranks, const std::string& spec, const usage& what);
  // The same for an exchange whose blocks' checksums were right.
  void add_late_verified(const usage& what);

  // Tells the user at the end, on the ranks that tell, if there is something to tell. `rank`: this one, in the world.
  void tell(int rank);
  // If nothing was told, says that there was nothing to tell.
  void tell_of_nothing();

 private:
  void write(int rank);

  job_state& job_;
  std::mutex lock_;
  usage_report report_;
  std::atomic<bool> tells_ = false;  // besides rank 0
  bool has_told_ = false;
};

}  // namespace shoal
