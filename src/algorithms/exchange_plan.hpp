// The programs of all ranks for an exchange whose messages go straight to their destination in a common order.
//
// Source: AAPC on Ethernet switched clusters, section 5. Receiver-signalled tokens and windows are Shoal's own.
// Cost: the plan of M ranks holds M (M - 1) messages and their synchronisations; a program is then found in time
// proportional to its own operations. Every process that runs the exchange makes the plan once.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "algorithms/tree_orders.hpp"
#include "algorithms/tree_phases.hpp"
#include "algorithms/tree_tokens.hpp"
#include "schedule/schedule.hpp"

namespace shoal {

// Into how many parts a block is cut, and how many bytes the last has at most; 0: as many as the others.
struct cutting {
  int parts = 1, last = 0;
};

class exchange_plan {
 public:
  // At most `window` messages share a directed edge per stream it carries. Without `how` nothing is synchronised:
  // only each sender keeps its order and its own window. The last `empty` messages are empty: nothing
  // waits for them, and they wait for nothing.
  exchange_plan(const rank_tree& tree, std::vector<message> ordered, int window, std::optional<reduction> how,
                std::size_t empty = 0);

  const std::vector<message>& messages() const { return messages_; }
  const synchronisations& waits() const { return waits_; }
  // The receiver of the earlier message sends a token to the sender of the later one, also where both have one sender:
  // its own sends end when the MPI library has the data, long before they have left. Blocks travel in parts;
  // the token is sent when all but the last have arrived, so that it is under way while that one is.
  schedule program(int rank, cutting blocks = {}) const;

 private:
  struct share {  // of one rank: positions of messages and of tokens
    std::vector<std::int32_t> sends, receives, signals, awaits;
    int outstanding = 1;
  };
  std::vector<message> messages_;
  synchronisations waits_;
  std::vector<synchronisation> tokens_;
  std::vector<share> ranks_;
};

// What a plan of closed_form_order without synchronisation gives, found from the own messages of the rank alone.
schedule unsynchronised_program(const rank_tree& tree, const rank_phases& table, int rank, int window);

}  // namespace shoal
