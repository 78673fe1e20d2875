// The MPI's own collectives in their nonblocking form, so that what Shoal has under way moves while a rank waits for
// them. MPI does not match a blocking collective with a nonblocking one, and no rank knows what others have under way: so
// all calls of shoal.h take this form.
#pragma once

#include <mpi.h>

#include <array>
#include <vector>

#include "api/allgather.hpp"
#include "api/alltoall.hpp"
#include "execute/waiting.hpp"

namespace shoal {

class native_collective {
 public:
  native_collective() = default;
  ~native_collective();
  native_collective(const native_collective&) = delete;
  native_collective& operator=(const native_collective&) = delete;

  // Whether this MPI has the form for counts as large as these.
  static bool serves(const alltoall_call& call);
  static bool serves(const allgather_call& call);

  // MPI error codes. What the call names stays until the end.
  int start(const alltoall_call& call);
  int start(const allgather_call& call);
  int test(bool& ended);
  int wait(wait_mode mode);

 private:
  MPI_Request request_ = MPI_REQUEST_NULL;
  std::array<std::vector<int>, 4> narrowed_;  // counts and displacements that came in 64 bits
};

// Runs the MPI's own collective; `blocking` where it has no other form for the call.
template <typename Call, typename Blocking>
int natively(const Call& call, wait_mode mode, Blocking blocking) {
  if (!native_collective::serves(call)) return blocking();
  native_collective own;
  const int code = own.start(call);
  return code == MPI_SUCCESS ? own.wait(mode) : code;
}

}  // namespace shoal
