// A schedule prepared for execution: who waits for whom, and the tags. Made once, run many times.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "schedule/schedule.hpp"

namespace shoal {

struct linked_schedule : schedule {
  explicit linked_schedule(schedule from);

  std::vector<std::int32_t> before;        // per operation: how many operations it comes after
  std::vector<std::uint32_t> first_next;   // per operation, and one past the last: where its successors begin
  std::vector<op_id> next;                 // successors of all operations
  std::vector<std::int32_t> sequence;      // per transfer: its number among those with the same peer and direction
  std::vector<std::int32_t> announced;     // per transfer: how many of its blocks travel with their sizes
  bool one_message_each_way = true;        // at most, between any two ranks; a token counts as a message
  std::size_t most_transfers = 0;          // under way at once; a send may have two, for its sizes and for its data
  int send_blocks = 0, recv_blocks = 0;    // the number of the user's blocks, up to the last one used
  std::vector<std::int32_t> temp_readers;  // per temp slot: how many operations read it

  std::span<const op_id> successors(op_id id) const {
    return {next.data() + first_next[id], first_next[id + 1] - first_next[id]};
  }
  // Memory of the schedule and of the tables here.
  std::size_t bytes() const;
  // Whether some messages travel even if no block has a byte, because they tell sizes.
  bool tells_sizes() const;
  // Whether the size of this block travels in front of the data of a message.
  bool announces(slot s) const { return s.passing || full_metadata; }

 private:
  void link();
  void number_transfers();
  void count_readers();
  void count_blocks();
};

}  // namespace shoal
