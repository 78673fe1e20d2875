// One all-to-all call among neighbours, in any of MPI's forms: served by Shoal, or left to the MPI's own collective.
#pragma once

#include <mpi.h>

#include "calls/alltoall.hpp"
#include "calls/native.hpp"
#include "learn/neighborhood.hpp"

namespace shoal {

// The arguments of MPI_Neighbor_alltoall, MPI_Neighbor_alltoallv or MPI_Neighbor_alltoallw. Each edge has a block.
struct neighbor_call : alltoall_call {
  explicit neighbor_call(const alltoall_call& all) : alltoall_call(all) {}

  static constexpr collective what = collective::neighbor_alltoall;
  std::string name() const { return name_of(to_string(what), form()); }
  // Whether another rank may wait for this one here, because something goes to a neighbour or comes from one.
  bool is_awaited() const;
  // Whether the MPI accepts the arguments on this rank, as far as Shoal can tell.
  bool is_valid() const;
};

template <typename... All>
neighbor_call uniform_neighbors(All... all) {
  return neighbor_call(uniform_call(all...));
}
template <typename... All>
neighbor_call varying_neighbors(All... all) {
  return neighbor_call(varying_call(all...));
}
template <typename... All>
neighbor_call typed_neighbors(All... all) {
  return neighbor_call(typed_call(all...));
}

// Serves a call as the user asks, or else as was learnt on the program's own exchanges. Returns an MPI error code;
// errors have been raised on the communicator.
[[gnu::hot]] int neighbor_alltoall(const neighbor_call& call, interface from, native_call native);

// One such call while it is served.
class neighbor_service {
 public:
  // All stay the caller's, and must outlive this. `storage` holds what is known of single blocks.
  neighbor_service(neighborhood& state, const neighbor_call& call, block_storage& storage)
      : state_(state), over_(state.over().all()), call_(call), storage_(storage) {}
  neighbor_service(const neighbor_service&) = delete;
  neighbor_service& operator=(const neighbor_service&) = delete;

  // The algorithm. Null: the MPI's own collective serves, because of device memory, a limit on scratch memory, or to
  // report wrong arguments of this rank.
  const decision* pick(MPI_Info info);
  // The same for a call that ends later. Such a call shares no memory.
  const decision* pick_without_asking();
  // What was settled for the call. Null: the MPI's own collective serves, to report wrong arguments of this rank.
  const decision* fit(const decision& settled);
  // Whether the ranks asked each other in this call.
  bool meets_others() const { return meets_others_; }
  // The same as pick() for a call that is run many times: all ranks pick the same. Collective.
  const decision* plan(MPI_Info info);
  const payload& blocks() const { return what_; }
  void run(const prepared& algorithm) { over_.run(*algorithm.steps, what_); }
  agreement& agree() { return over_.agree(); }
  // Runs the MPI's own collective on the same buffers and compares. Throws if a byte differs.
  void verify(native_call native);
  std::int64_t bytes_sent() const { return call_.bytes_to_all(state_.destinations()); }

 private:
  const decision* named(MPI_Info info);
  void describe();
  bool is_valid() const;

  neighborhood& state_;
  team& over_;
  const neighbor_call& call_;
  block_storage& storage_;
  payload what_;
  bool meets_others_ = false;
};

}  // namespace shoal
