// One call in which ranks send each other blocks, while it is served: its buffers, what is known of the sizes, and how
// it is done.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "calls/exchange_call.hpp"
#include "calls/mpi_datatype.hpp"
#include "calls/native_call.hpp"
#include "calls/verification.hpp"
#include "learn/communicator.hpp"
#include "team/team_exchange.hpp"

namespace shoal {

class exchange_service {
 public:
  using state = neighborhood;
  using call = exchange_call;
  using moving = team_exchange;

  // All stay the caller's, and must outlive this. `blocks` holds what is known of single blocks.
  exchange_service(neighborhood& among, const exchange_call& call, block_storage& blocks)
      : among_(among), ranks_(among.over().all()), call_(call), storage_(blocks) {}
  // For an exchange that ends in a later call.
  exchange_service(neighborhood& among, const exchange_call& call)
      : among_(among),
        ranks_(among.over().all()),
        call_(call),
        own_(std::make_unique<block_storage>()),
        storage_(*own_) {}
  exchange_service(const exchange_service&) = delete;
  exchange_service& operator=(const exchange_service&) = delete;

  // The algorithm. Null: the MPI's own collective serves, because of device memory, or to report wrong arguments of
  // this rank. Throws if another rank's arguments are wrong. The ranks ask each other only if they must: if memory may
  // be a device's, scratch memory is limited, results are verified, or the algorithm looks at sizes, of which each rank
  // knows only its own. If the MPI's own collective is chosen, nothing else is looked at, so it costs little more than
  // without Shoal.
  const decision* pick(MPI_Info info);
  // The same as pick() if the choice is made already: `chosen`, or what the limit on scratch memory allows instead.
  const decision* fit(const decision& chosen);
  // Whether the ranks asked each other in this call.
  bool meets_others() const { return meets_others_; }
  // The same as pick() for an exchange that will be repeated: the ranks always ask each other.
  const decision* plan(MPI_Info info);
  // Lets what was planned go through memory inside the nodes, if its messages match there. Collective.
  void share(team_exchange& moving, const prepared& algorithm);
  // pick() without asking other ranks, for an exchange that may not wait for them. Null also if scratch memory is
  // limited, or memory may be a device's.
  const decision* pick_without_asking();

  // What to exchange. With MPI_IN_PLACE the blocks to send are copied first; drop_snapshot() drops the copy.
  const payload& blocks();
  void drop_snapshot() { snapshot_.reset(); }
  const user_buffer& sent() const { return what_.send; }
  const user_buffer& received() const { return what_.recv; }
  block_ends ends() const;

  // The schedule that carries out the exchange: one made for its sizes, if the algorithm looks at them.
  const linked_schedule& steps(const prepared& algorithm) const { return sized_ ? *sized_ : *algorithm.steps; }
  void run(const prepared& algorithm) { ranks_.run(steps(algorithm), blocks()); }

  // What Shoal keeps for the call's communicator.
  communicator& kept() { return among_.over(); }
  agreement& agree() { return ranks_.agree(); }
  // Runs the MPI's own collective on the same buffers and compares. Throws if a byte differs.
  void verify(native_call native);

  std::int64_t bytes_sent() const { return call_.bytes_to_all(among_.peers().sent); }

 private:
  bool ranks_ask(const prepared& algorithm) const;
  const decision* leave_to_mpi(const decision* chosen);
  // `chosen`, or what the limit on scratch memory allows instead. Makes a program for the sizes if it looks at them.
  const decision* fitted(const decision* chosen, const features& agreed);
  const decision* within_limit(const decision* chosen) const;
  void fit_to_sizes(const prepared& algorithm, const features& agreed);
  scratch_limit::needs scratch_needs() const;
  void describe();
  features local_features() const;
  bool agree_on_sizes(features& sizes);
  template <typename Visit>
  void each_sent(Visit visit) const;
  template <typename Visit>
  void each_received(Visit visit) const;
  void take_snapshot();
  void restore();

  neighborhood& among_;
  team& ranks_;
  const exchange_call& call_;
  std::unique_ptr<block_storage> own_;
  block_storage& storage_;
  payload what_;
  std::shared_ptr<const linked_schedule> sized_;
  std::optional<pool_memory> snapshot_;
  std::size_t most_bytes_ = 0;  // the most that any rank sends or receives, if an exchange is planned
  bool meets_others_ = false;
};

}  // namespace shoal
