// One all-to-all call being served: the user's buffers described, what is known of the sizes, and the way it is done.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "calls/alltoall.hpp"
#include "calls/mpi_datatype.hpp"
#include "learn/communicator.hpp"

namespace shoal {

// So many blocks that a call receives, and that it sends.
void describe_received(const alltoall_call& call, int blocks, block_storage& storage, payload& what);
void describe_sent(const alltoall_call& call, int blocks, block_storage& storage, payload& what);

class alltoall_service {
 public:
  // All stay the caller's. `blocks` is where what is known of single blocks is kept.
  alltoall_service(communicator& state, const alltoall_call& call, block_storage& blocks)
      : state_(state), ranks_(state.all()), call_(call), storage_(blocks) {}
  alltoall_service(const alltoall_service&) = delete;
  alltoall_service& operator=(const alltoall_service&) = delete;

  // The algorithm; null: the MPI's own collective, because of device memory or to report wrong arguments of this
  // rank. Throws where those of another rank are wrong. The ranks ask each other only where they must: to choose
  // from sizes that each knows only in part, and when memory may be a device's. Where the MPI's own collective is
  // chosen nothing else is looked at, so that it costs little more than without Shoal.
  const decision* pick(MPI_Info info);
  // The same where it is known what is to serve: that, or what scratch memory allows instead.
  const decision* fit(const decision& chosen);
  // Whether the ranks asked each other for that.
  bool has_asked() const { return has_asked_; }
  // The same as pick() for an exchange that will be repeated: the ranks always ask each other.
  struct repeated {
    const decision* chosen;
    std::size_t most_bytes = 0;  // that a rank sends or receives, where there is an algorithm
  };
  repeated plan(MPI_Info info);
  // The same without asking anyone, for an exchange that may not wait for other ranks. Where scratch memory is limited
  // that is the MPI's own.
  const decision* pick_at_once();

  // What to exchange; with MPI_IN_PLACE the blocks to send are copied first. Ended by drop_snapshot().
  const payload& blocks();
  void drop_snapshot() { snapshot_.reset(); }
  const user_buffer& received() const { return what_.recv; }

  // What carries it out: made for its sizes, where the algorithm looks at them.
  const program& steps(const prepared& algorithm) const { return sized_ ? *sized_ : *algorithm.steps; }
  void run(const prepared& algorithm) { ranks_.run(steps(algorithm), blocks()); }

  agreement& agree() { return ranks_.agree(); }
  // Runs the MPI's own collective on the same buffers and compares. Throws when a byte differs.
  void verify(native_call native);

  std::int64_t bytes_sent() const { return call_.bytes_to_all(ranks_.ranks()); }

 private:
  bool ranks_ask(const prepared& algorithm) const;
  const decision* left_out(const decision* chosen);
  // Within the limit on memory, and to the sizes.
  const decision* fitted(const decision* chosen, const features& agreed);
  const decision* within_limit(const decision* chosen) const;
  void fit_to_sizes(const prepared& algorithm, const features& agreed);
  scratch_limit::needs scratch_needs() const;
  void describe();
  features local_features() const;
  bool agree_on_sizes(features& sizes);
  void take_snapshot();
  void restore();

  communicator& state_;
  team& ranks_;
  const alltoall_call& call_;
  block_storage& storage_;
  payload what_;
  std::shared_ptr<const program> sized_;
  std::optional<pool_memory> snapshot_;
  bool has_asked_ = false;
};

}  // namespace shoal
