#include "team/node_memory.hpp"

#include <system_error>

#include "team/errors.hpp"

namespace shoal {

node_exchange* node_memory::get() {
  if (!is_set_up_) keep(make(over_));
  return exchange_.get();
}

void node_memory::take(node_exchange::mapped given) {
  given.memory.close();
  keep(std::make_unique<node_exchange>(pool_, over_, wait_, nodes_, std::move(given)));
}

void node_memory::keep(std::unique_ptr<node_exchange> made) {
  is_set_up_ = true;
  exchange_ = std::move(made);
  if (exchange_) exchange_->record_phases(clock_);
}

std::unique_ptr<node_exchange> node_memory::make(transport& over, node_exchange::room size) {
  if (nodes_.largest_node() == 1) return nullptr;
  try {
    return std::make_unique<node_exchange>(pool_, over, wait_, nodes_, size);
  } catch (const std::system_error& error) {  // the same on every rank
    if (over_.rank() == 0)
      say_once("the ranks of a node cannot share memory: " + error.code().message(), "blocks travel as messages");
    return nullptr;
  }
}

}  // namespace shoal
