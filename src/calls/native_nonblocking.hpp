// The MPI's own collectives in their nonblocking or persistent form, so that what Shoal has under way moves while a
// rank waits for them. MPI does not match a blocking collective with a nonblocking one, and no rank knows what others
// have under way. So if the MPI cannot move what Shoal has under way, all calls of shoal.h take the nonblocking form.
#pragma once

#include <mpi.h>

#include <array>
#include <utility>
#include <vector>

#include "calls/allgather.hpp"
#include "calls/exchange_call.hpp"
#include "calls/native_call.hpp"
#include "team/progress.hpp"
#include "transport/waiting.hpp"

namespace shoal {

class native_collective {
 public:
  native_collective() = default;
  ~native_collective();
  native_collective(const native_collective&) = delete;
  native_collective& operator=(const native_collective&) = delete;

  // Starts the collective; to be called once. Returns an MPI error code; errors have been raised on the communicator.
  // What the call names must stay until the end.
  int start(const exchange_call& call);
  int start(const allgather_call& call);
  // The same for a persistent request, which is prepared and not started, if the MPI has persistent collectives.
  static const bool has_persistent;
  int prepare(const exchange_call& call);
  int test(bool& ended);
  int wait(wait_mode mode);
  // Gives the request to the caller, who ends it. What the request needs stays here.
  MPI_Request hand_over() { return std::exchange(request_, MPI_REQUEST_NULL); }

 private:
  exchange_call sent_from_a_copy(exchange_call call);
  std::int64_t make_packed(std::int64_t bytes);
  int start_v(const exchange_call& call);
  int start_narrow(const exchange_call& call, int ranks);
  int start_wide(const exchange_call& call, int ranks);
  int start_v(const allgather_call& call);
  int prepare_v(const exchange_call& call, int ranks);

  MPI_Request request_ = MPI_REQUEST_NULL;
  // Counts and displacements in the integers that the MPI's function takes, if the program gave them in others.
  std::array<std::vector<int>, 4> ints_;
  std::array<std::vector<MPI_Count>, 2> counts_;
  std::array<std::vector<MPI_Aint>, 2> displacements_;
  // What is sent with MPI_IN_PLACE, packed.
  std::vector<std::byte> copy_;
  std::vector<std::int64_t> counts_of_copy_, offsets_;
  std::vector<MPI_Datatype> types_of_copy_;
  MPI_Datatype packed_ = MPI_DATATYPE_NULL;
};

// Runs the MPI's own collective in its blocking form, while the MPI moves what Shoal has under way, as it can if
// can_be_moved().
template <typename Native>
int moved_by_mpi(Native native) {
  const progress::handed_to_mpi meanwhile;
  return native();
}

// Waits for a request of the MPI's own to end, while what Shoal has under way moves. In wait_moving() `start` makes it.
int end_moving(MPI_Request& request, wait_mode mode);
template <typename Start>
int wait_moving(Start start) {
  MPI_Request own = MPI_REQUEST_NULL;
  const int code = start(&own);
  return code == MPI_SUCCESS ? end_moving(own, wait_mode::yield) : code;
}

// Whether the MPI moves what Shoal has under way in the blocking form, and that form works. On a communicator of one
// rank, Open MPI's MPI_Alltoallw ignores displacements.
inline bool can_be_moved([[maybe_unused]] call_form form) {
#ifdef OPEN_MPI
  if (form == call_form::any_types) return false;
#endif
  return progress::mpi_can_move();
}

// Runs the MPI's own collective, of which `native` is the blocking form, while what Shoal has under way moves.
template <typename Call>
int natively(const Call& call, wait_mode mode, native_call native) {
  if (can_be_moved(call.form())) return moved_by_mpi(native);
  native_collective own;
  const int code = own.start(call);
  return code == MPI_SUCCESS ? own.wait(mode) : code;
}

}  // namespace shoal
