// An exchange between the ranks of one node, every block straight to its destination through memory that they share:
// small blocks in rows, all together, others in pieces or straight from their sender. Blocks that are not plain
// memory are packed as they are copied, or, where they need several pieces, before.
#pragma once

#include <span>
#include <vector>

#include "execute/exchange.hpp"
#include "transport/node_rows.hpp"
#include "transport/node_window.hpp"

namespace shoal {

class direct_exchange {
 public:
  // `ranks`: of the communicator, by their place on the node.
  direct_exchange(memory_pool& pool, node_rows& rows, node_window& window, std::span<const int> ranks);
  ~direct_exchange();
  direct_exchange(const direct_exchange&) = delete;
  direct_exchange& operator=(const direct_exchange&) = delete;

  // As those of exchange. A block may have another size than its receiver expects, or the memory of its sender cannot be
  // read any more.
  void start(const payload& what);
  bool progress(bool& moved);
  // Now and then while it waits: others may wait until it has taken what belongs to no exchange any more, and it for them.
  void drop_stale();
  // As of exchange.
  void record_phases(phase_clock* clock) { phases_ = clock; }
  const std::exception_ptr& failure() const { return failure_.what(); }
  bool done() const { return written_ && rows_awaited_.empty() && receives_.empty() && sends_.empty(); }

  // Until a rank has done something that this one waits for, or for so long.
  void sleep(int microseconds);

 private:
  // A block in pieces; `packed` where it is not plain memory.
  struct send {
    int peer;
    node_window::outgoing message;
    std::byte* packed;
    std::size_t bytes;
  };
  struct receive {
    int peer;
    node_window::incoming message;
    std::byte* packed;
    std::size_t bytes;
  };

  void forget();
  bool try_to_write();
  void write_row();
  void copy_own();
  void send_in_pieces(int peer);
  void receive_in_pieces(int peer);
  bool read_row(int peer);
  bool push(send& one);
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
  bool written_ = true;  // this rank's row
  std::vector<int> rows_awaited_;
  std::vector<int> without_room_;  // places whose blocks did not fit into the row
  std::vector<send> sends_;
  std::vector<receive> receives_;
  first_failure failure_;
  phase_clock* phases_ = nullptr;
};

}  // namespace shoal
