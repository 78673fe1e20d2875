// One allgather between two groups while it is served: its buffers, what is known of the sizes, and how it is done.
#pragma once

#include <mpi.h>

#include <array>

#include "calls/allgather.hpp"
#include "calls/mpi_datatype.hpp"
#include "calls/verification.hpp"
#include "learn/intercommunicator.hpp"

namespace shoal {

class allgather_service {
 public:
  using state = intercommunicator;
  using call = allgather_call;
  using moving = group_exchange;

  // Both stay the caller's, and must outlive this.
  allgather_service(intercommunicator& state, const allgather_call& call);
  allgather_service(const allgather_service&) = delete;
  allgather_service& operator=(const allgather_service&) = delete;

  // The algorithm. Null: the MPI's own collective serves, because of device memory, or to report wrong arguments of
  // this rank. Throws if another rank's arguments are wrong. In an allgather of equal messages both groups know all
  // sizes, and ask each other only if memory may be a device's, or results are verified.
  const group_decision* pick(MPI_Info info);
  // The same for an allgather that will be repeated: before Shoal serves it, the ranks always ask each other. Null also
  // if nobody asked for an algorithm and Shoal has not been the fastest so far.
  const group_decision* plan(MPI_Info info) { return pick_for(true, info); }

  // What moves in each direction, and by which schedules, for the algorithm that was picked.
  const std::array<payload, 2>& blocks() const { return what_; }
  group_exchange::both_ways steps(const group_plan& algorithm) const {
    return intercommunicator::schedules_of(algorithm, sizes_);
  }
  void run(const group_plan& algorithm) {
    has_met_others_ = true;
    state_.run(algorithm, sizes_, what_);
  }
  // What the call counts in, as far as was known before it was carried out.
  const intercommunicator::counting& counts_in() const { return counts_in_; }
  // For certain, even if the MPI seems to have refused the call here.
  bool has_met_others() const { return has_met_others_; }

  // What Shoal keeps for the call's communicator.
  intercommunicator& kept() { return state_; }
  agreement& agree() { return state_.all().agree(); }
  // Runs the MPI's own collective on the same buffers and compares. Throws if a byte differs.
  void verify(native_call native);

  const user_buffer& sent() const { return what_[out_].send; }
  const user_buffer& received() const { return what_[in_].recv; }
  block_ends ends() const;
  std::int64_t bytes_sent() const { return static_cast<std::int64_t>(what_[out_].send.bytes(0)); }

 private:
  const group_decision* pick_for(bool repeated, MPI_Info info);
  bool is_turn_of_shoal(bool repeated);
  const group_decision* served_by(const group_decision* chosen, bool repeated);
  const group_decision* leave_to_mpi(const group_decision* chosen);
  void make_ready(group_plan& algorithm);
  group_sizes local_sizes() const;

  intercommunicator& state_;
  const allgather_call& call_;
  int out_, in_;  // the directions in which this rank sends and receives
  group_sizes sizes_;
  std::array<payload, 2> what_;  // by direction
  bool has_met_others_ = false;
  intercommunicator::counting counts_in_;
};

}  // namespace shoal
