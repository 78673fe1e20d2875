// An exchange between the ranks of one node. Every block goes straight to its destination through memory that the ranks
// share: a sender puts small blocks together into one row; others go in segments, or are read from the sender's memory.
// Blocks that are not plain memory are packed as they are copied into the row, or before they are cut into segments.
#pragma once

#include <span>
#include <vector>

#include "execute/exchange.hpp"
#include "transport/node_rows.hpp"
#include "transport/node_window.hpp"

namespace shoal {

class direct_exchange {
 public:
  // `ranks`: the ranks of the communicator, by their place on the node.
  direct_exchange(memory_pool& pool, node_rows& rows, node_window& window, std::span<const int> ranks);
  ~direct_exchange();
  direct_exchange(const direct_exchange&) = delete;
  direct_exchange& operator=(const direct_exchange&) = delete;

  // start() and progress() do what those of `exchange` do. A run fails if a block cannot be packed or has another size
  // than its receiver expects, or if the memory of its sender can no longer be read.
  void start(const payload& what);
  bool progress(bool& moved);
  // Called now and then while this rank waits: takes messages that belong to no exchange any more. Other ranks may wait
  // for that, while this rank waits for them.
  void drop_stale();
  // As in `exchange`.
  void record_phases(phase_clock* clock) { phases_ = clock; }
  const std::exception_ptr& failure() const { return failure_.what(); }
  bool done() const { return written_ && rows_awaited_.empty() && receives_.empty() && sends_.empty(); }

  // Sleeps until a rank has done something that this rank waits for, but at most for this time.
  void sleep(int microseconds);

 private:
  // A block that travels in segments. `packed` is its packed form if it is not plain memory.
  struct send {
    int peer;
    node_window::outgoing message;
    pool_memory packed;
  };
  struct receive {
    int peer;
    node_window::incoming message;
    pool_memory packed;
  };

  void forget();
  bool try_to_write();
  void write_row();
  void add_block(int peer);
  void copy_own();
  void send_in_segments(int peer);
  void receive_in_segments(int peer);
  bool read_row(int peer);
  pool_memory memory_to_pack(const user_buffer& of, int rank);
  bool push(send& one) { return window_.push(one.peer, one.message); }
  bool pull(receive& one);
  void lap(phase p) {
    if (phases_) phases_->lap(p);
  }

  memory_pool& pool_;
  memory_pool::tally taken_;
  node_rows& rows_;
  node_window& window_;
  std::vector<int> ranks_;
  payload what_;
  bool written_ = true;  // whether this rank has written its row
  std::vector<int> rows_awaited_;
  std::vector<int> without_room_;  // places whose blocks did not fit into the row
  std::vector<send> sends_;
  std::vector<receive> receives_;
  first_failure failure_;
  phase_clock* phases_ = nullptr;
};

}  // namespace shoal
