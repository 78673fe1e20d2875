// The memory that the ranks of a communicator share inside their nodes.
#pragma once

#include <memory>

#include "execute/node_exchange.hpp"

namespace shoal {

class node_memory {
 public:
  // All arguments stay the caller's. `clock` may be null.
  node_memory(memory_pool& pool, transport& over, waiting& wait, const node_layout& nodes, phase_clock* clock)
      : pool_(pool), over_(over), wait_(wait), nodes_(nodes), clock_(clock) {}

  // What exchanges through this memory. Null means that blocks travel as messages. The first call sets the memory up,
  // unless it is_set_up(); that is collective.
  node_exchange* get();
  bool is_set_up() const { return is_set_up_; }
  // Takes memory that all ranks have mapped; they are on one node.
  void take(node_exchange::mapped given);
  bool has_all_ranks() const { return exchange_ && nodes_.nodes() == 1; }

  // What a single exchange has for itself, for messages of `over` inside the nodes. Null as above. Collective.
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
