// Runs the schedules of all ranks symbolically and says what is wrong with them, if anything.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "schedule/neighbor_graph.hpp"
#include "schedule/schedule.hpp"

namespace shoal {

// The identity of a block: who made it and what it is to its maker (in an all-to-all: for whom; in a graph: which edge).
struct block_name {
  int origin = -1;
  int destination = -1;
  bool operator==(const block_name&) const = default;
};

// What a collective means: what the user's slots hold before, and must hold after. A slot outside the counts
// does not exist. `wanted` answers {-1,-1} for a place that must stay untouched.
struct meaning {
  std::function<int(int rank)> send_slots;
  std::function<int(int rank)> recv_slots;
  std::function<block_name(int rank, int index)> held;
  std::function<block_name(int rank, int index)> wanted;
};

meaning alltoall_meaning(int ranks, int parts = 1);
// A block for each edge: of the complete graph an all-to-all. The graph must stay.
meaning neighbor_meaning(const neighbor_graph& graph);
// Senders are ranks 0..senders-1 with one message each in send[0]; receivers follow, with recv[j] for sender j.
// The parts of a cut message are blocks (sender, part).
meaning allgather_meaning(int senders, int receivers, int parts = 1);

enum class fault_kind {
  lost_block,         // a place the collective must fill stays empty
  doubled_block,      // a block is delivered where another copy already went
  wrong_slot,         // a place holds another block than it must, or was to stay untouched
  send_slot_written,  // the user's send buffer is a target
  written_twice,      // single assignment violated
  read_before_write,  // a slot is read by an operation that need not come after the one that writes it
  unmatched,          // a send without its receive or the reverse, or of another number of blocks
  wrong_passing,      // a message says "arrives" where it passes through, or the reverse
  deadlock,           // operations remain that wait for each other, even though every send is a rendezvous
  bad_reference,      // a slot, peer or dependency that does not exist
  any_order,          // messages to or from a rank may be started in another order than that of the program
};
const char* to_string(fault_kind kind);

struct fault {
  fault_kind kind;
  int rank;
  op_id op;  // -1: not tied to one operation
  std::string text;
};

// The first fault found, or nothing. The schedules are those of ranks 0..P-1 in order.
std::optional<fault> check(std::span<const schedule> programs, const meaning& collective);

// Proves that the two ranks start the messages between them in the same order, so that these match even where tags do
// not count (transport::matches_by_order). `by_order`: between which ranks. The schedules must have passed check().
// Sufficient, not necessary: it counts on a message being started before another only if the other comes after it, or
// after what is started behind it, and on the lower number being started first of two that come after the same.
std::optional<fault> check_order(std::span<const schedule> programs, const std::function<bool(int, int)>& by_order);

}  // namespace shoal
