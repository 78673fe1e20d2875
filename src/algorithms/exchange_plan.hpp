// The programs of all ranks for an exchange whose messages go straight to their destinations in a common order.
//
// Source: AAPC on Ethernet switched clusters, section 5. Receiver-signalled tokens and windows are Shoal's own.
// Cost: the plan of M ranks holds M (M - 1) messages and their synchronisations. Making a program from it takes time
// proportional to the program's operations. Every process that runs the exchange makes the plan once.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "algorithms/tree_orders.hpp"
#include "algorithms/tree_phases.hpp"
#include "algorithms/tree_tokens.hpp"
#include "schedule/schedule.hpp"

namespace shoal {

// Into how many parts a block is cut, and how many bytes the last part has at most; 0: as many as the other parts.
struct block_parts {
  int parts = 1, last = 0;
};

class exchange_plan {
 public:
  // At most `window` messages share a directed edge for each stream that the edge carries. Without `wanted` ranks are not
  // synchronised: each sender only keeps its own order and window. The last `empty` messages have no bytes: they are
  // not synchronised with others.
  exchange_plan(const rank_tree& tree, std::vector<message> ordered, int window, std::optional<reduction> wanted,
                std::size_t empty = 0);

  const std::vector<message>& messages() const { return messages_; }
  const synchronisations& waits() const { return waits_; }
  // In every synchronisation the receiver of the earlier message sends a token to the sender of the later one. That is
  // so even if both messages have the same sender: its sends end when the MPI library has the data, long before the
  // data have left. Blocks travel in parts. The token is sent when all parts but the last have arrived, so that the
  // token and the last part are under way together.
  schedule program(int rank, block_parts blocks = {}) const;

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

// The program that an unsynchronised plan of closed_form_order gives, made from the rank's own messages alone.
schedule unsynchronised_program(const rank_tree& tree, const rank_phases& table, int rank, int window);

}  // namespace shoal
