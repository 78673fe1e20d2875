// One all-to-all call among neighbours, in any of MPI's forms: served by Shoal, or left to the MPI's own collective.
#pragma once

#include <mpi.h>

#include <memory>

#include "calls/alltoall.hpp"
#include "calls/native.hpp"
#include "calls/verification.hpp"
#include "learn/neighborhood.hpp"
#include "team/team_exchange.hpp"

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

// Carries out a call that passes, and was counted.
[[gnu::hot]] int carry_out_passed(const neighbor_call& call, native_call native);

// One such call while it is served.
class neighbor_service {
 public:
  using state = neighborhood;
  using call = neighbor_call;
  using moving = team_exchange;

  // All stay the caller's, and must outlive this. `storage` holds what is known of single blocks.
  neighbor_service(neighborhood& state, const neighbor_call& call, block_storage& storage)
      : state_(state), over_(state.over().all()), call_(call), storage_(storage) {}
  // For an exchange that ends in a later call.
  neighbor_service(neighborhood& state, const neighbor_call& call)
      : state_(state),
        over_(state.over().all()),
        call_(call),
        own_(std::make_unique<block_storage>()),
        storage_(*own_) {}
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
  const user_buffer& sent() const { return what_.send; }
  const user_buffer& received() const { return what_.recv; }
  block_ends ends() const;
  const linked_schedule& steps(const prepared& algorithm) const { return *algorithm.steps; }
  void run(const prepared& algorithm) { over_.run(steps(algorithm), what_); }
  // What Shoal keeps for the call's communicator.
  communicator& kept() { return state_.over(); }
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
  std::unique_ptr<block_storage> own_;
  block_storage& storage_;
  payload what_;
  bool meets_others_ = false;
};

}  // namespace shoal
