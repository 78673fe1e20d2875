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

// The identity of a block: the rank that it comes from, and which of that rank's blocks it is (in an all-to-all, the
// rank that it is for; in a graph, the number of the edge).
struct block_name {
  int origin = -1;
  int destination = -1;
  bool operator==(const block_name&) const = default;
};

// What a collective has to do: which blocks the user's send slots hold before it, and which blocks the recv slots
// must hold after it. Slots beyond these numbers do not exist. `wanted` returns {-1, -1} for a slot that must stay
// untouched.
struct meaning {
  std::function<int(int rank)> send_slots;
  std::function<int(int rank)> recv_slots;
  std::function<block_name(int rank, int index)> held;
  std::function<block_name(int rank, int index)> wanted;
};

meaning alltoall_meaning(int ranks, int parts = 1);
// One block for each edge of the graph; on the complete graph this is an all-to-all. The graph must outlive the result.
meaning neighbor_meaning(const neighbor_graph& graph);
// Senders are ranks 0..senders-1 with one message each in send[0]; receivers follow, with recv[j] for sender j.
// The parts of a cut message are blocks (sender, part).
meaning allgather_meaning(int senders, int receivers, int parts = 1);

enum class fault_kind {
  lost_block,         // a place that the collective must fill stays empty
  doubled_block,      // a block is delivered a second time, into a place that is not its own
  wrong_slot,         // a block is put into a place that is for another block, or that must stay untouched
  send_slot_written,  // an operation writes into the user's send buffer
  written_twice,      // an operation writes a slot that was written before
  read_before_write,  // a slot is read by an operation that need not come after the one that writes it
  unmatched,          // a send without its receive or the reverse, or the two have different numbers of blocks
  wrong_passing,      // a block that passes through is marked as arriving, or the reverse
  deadlock,           // operations wait for each other for ever, if every send is a rendezvous
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

// Proves that any two ranks start the messages between them in the same order, so that these match even if tags do not
// count (transport::matches_by_order). `by_order` tells for which pairs of ranks. The schedules must have passed
// check(). The test is sufficient, not necessary. It relies on two rules only: a message is started before another one
// if the other comes after it, or after an operation that is started behind it. And of two operations that come after
// the same operations, the one with the lower number is started first.
std::optional<fault> check_order(std::span<const schedule> programs, const std::function<bool(int, int)>& by_order);

}  // namespace shoal
