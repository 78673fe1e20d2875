// The memory that the ranks of a communicator share inside their nodes.
#pragma once

#include <memory>

#include "execute/node_exchange.hpp"

namespace shoal {

class node_memory {
 public:
  // All stay; `clock` may be null.
  node_memory(memory_pool& pool, transport& over, waiting& wait, const node_layout& nodes, phase_clock* clock)
      : pool_(pool), over_(over), wait_(wait), nodes_(nodes), clock_(clock) {}

  // What exchanges through it. Null: blocks travel as messages. Once it is_set_up(), which the first call does: that is
  // collective.
  node_exchange* get();
  bool is_set_up() const { return is_set_up_; }
  // Mapped by all ranks of the one node that there is.
  void take(node_exchange::mapped given);
  bool has_all_ranks() const { return exchange_ && nodes_.nodes() == 1; }

  // What one exchange has for itself, for messages of `over` inside the nodes. Null as above. Collective.
  std::unique_ptr<node_exchange> make(transport& over, node_exchange::room size = {});

 private:
  void keep(std::unique_ptr<node_exchange> made);

  memory_pool& pool_;
  transport& over_;
  waiting& wait_;
  const node_layout& nodes_;
  phase_clock* clock_;
  std::unique_ptr<node_exchange> exchange_;
  bool is_set_up_ = false;
};

}  // namespace shoal
