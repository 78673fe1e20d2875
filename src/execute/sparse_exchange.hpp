// An exchange in which a rank sends blocks to whom it likes: no rank knows who sends to it, or how much.
//
// First a parcel announces every block to its receiver. The parcel goes by digits (parcel_router), and holds the block
// if it is small. Then blocks that are not small go straight to their receivers, who now wait for them. So with radix 2
// a rank sends ceil(log2 P) messages, and one for every block that is not small.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "execute/parcel_router.hpp"
#include "transport/waiting.hpp"

namespace shoal {

struct outgoing_block {
  int destination;
  const std::byte* data;
  std::size_t bytes;
};

// The blocks that arrived, by source; those of one source in the order in which it sent them.
struct arrived_blocks {
  std::vector<int> sources;
  std::vector<std::size_t> bytes;
  std::unique_ptr<std::byte[]> data;  // one block behind the other
};

class sparse_exchange {
 public:
  // A block that travels in a parcel is sent half of log2 P times on average. A block larger than this is assumed to
  // cost less in a message of its own. Not tuned.
  static constexpr std::size_t standard_most_inside = 1024;

  // `over` and `wait` must outlive this object. The other arguments are the same on every rank.
  sparse_exchange(transport& over, waiting& wait, int radix = 2, std::size_t most_inside = standard_most_inside)
      : over_(over), wait_(wait), most_inside_(most_inside), router_(over, radix, for_parcels) {}

  // Collective. `failed`: this rank cannot take part, and sends nothing. Then no rank gets anything, and all return
  // false. Throws what failed in a transfer.
  bool run(std::span<const outgoing_block> blocks, bool failed, arrived_blocks& arrived);

  // The same in steps. `blocks` must stay until the end. One exchange at a time: the next may begin when this one has
  // ended on this rank.
  void start(std::span<const outgoing_block> blocks, bool failed);
  // Moves the exchange on; returns whether it has ended.
  bool progress(bool& moved);
  // What failed in a transfer, once the exchange has ended; null if nothing did. After a failure there can be no other
  // exchange, and the memory of this one (what this object holds, and the blocks) must never be used for anything else.
  const std::exception_ptr& failure() const { return failure_.what(); }
  // Hands out what arrived, once. False: some rank could not take part.
  bool take(arrived_blocks& arrived);

 private:
  // The router uses two tags, from for_parcels on.
  enum tag { for_blocks = 1, for_parcels = 2 };

  void begin_straight();
  bool progress_straight(bool& moved);

  transport& over_;
  waiting& wait_;
  std::size_t most_inside_;
  parcel_router router_;
  std::span<const outgoing_block> blocks_;
  arrived_blocks arrived_;
  bool is_routing_ = false;  // whether parcels are under way; after them, blocks go straight
  int under_way_ = 0;
  std::vector<ended_transfer> ended_;
  first_failure failure_;
};

}  // namespace shoal
