// Blocks to whom a rank likes: no rank knows who sends to it, nor how much.
//
// First every block is announced to its receiver, in a parcel that goes by digits (parcel_router) and holds the block where it
// is small. Then blocks that are not small go straight to their receivers, who wait for them now. So a rank sends
// ceil(log2 P) messages, and one for every block that is not small.
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

// What came, by rank; of one rank in the order in which that has sent it.
struct arrived_blocks {
  std::vector<int> sources;
  std::vector<std::size_t> bytes;
  std::unique_ptr<std::byte[]> data;  // one block behind the other
};

class sparse_exchange {
 public:
  // A block that travels in a parcel is passed on by half of log2 P ranks. A larger block than this is taken to cost less
  // in a message of its own. Not tuned.
  static constexpr std::size_t standard_most_inside = 1024;

  // The transport and how to wait stay the caller's. All other arguments are the same on every rank.
  sparse_exchange(transport& over, waiting& wait, int radix = 2, std::size_t most_inside = standard_most_inside)
      : over_(over), wait_(wait), most_inside_(most_inside), router_(over, radix, for_parcels) {}

  // `failed`: this rank cannot take part, and sends nothing. Then no rank gets anything; false on all of them. Collective. Throws
  // what failed in a transfer.
  bool run(std::span<const outgoing_block> blocks, bool failed, arrived_blocks& arrived);

  // The same in steps. `blocks` stay until the end. One at a time: the next one begins when this one has ended here.
  void start(std::span<const outgoing_block> blocks, bool failed);
  // Whether it has ended.
  bool progress(bool& moved);
  // Of a transfer, once it has ended; or null.
  const std::exception_ptr& failure() const { return failure_.what(); }
  // Whether a transfer was: then there can be no other exchange, and the memory of this one, what is here and the blocks, must
  // have no other use.
  bool abandoned() const { return abandoned_ || router_.abandoned(); }
  // What came, once; false: a rank could not take part.
  bool take(arrived_blocks& arrived);

 private:
  // The router has two.
  enum tag { for_blocks = 1, for_parcels = 2 };

  void begin_straight();
  bool progress_straight(bool& moved);

  transport& over_;
  waiting& wait_;
  std::size_t most_inside_;
  parcel_router router_;
  std::span<const outgoing_block> blocks_;
  arrived_blocks arrived_;
  bool routes_ = false;  // parcels; behind that, what goes straight is under way
  int under_way_ = 0;
  bool abandoned_ = false;
  std::vector<ended_transfer> ended_;
  first_failure failure_;
};

}  // namespace shoal
