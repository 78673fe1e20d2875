// A schedule is the program of one rank in a collective: operations on slots, with local dependencies.
//
// Slots hold blocks, not bytes, so a schedule depends only on the number of ranks, the rank and the
// parameters of the algorithm, never on sizes, types or buffers. Every slot is written at most once:
// a block that passes through a rank gets a fresh temp slot there, so nothing can overwrite what a
// transfer still reads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace shoal {

// send: the user's block for a rank, or for an edge of a graph; recv: the user's place for a block; temp: scratch.
enum class place : std::uint32_t { send, recv, temp };

// Names a place for one block. In a message, `passing` says that the receiver sends the block on. So the
// receiver cannot know the block's size; it knows the sizes of arriving blocks from its receive counts.
struct slot {
  std::uint32_t where : 2;
  std::uint32_t passing : 1;
  std::uint32_t index : 29;

  place at() const { return static_cast<place>(where); }
  bool operator==(const slot&) const = default;
};

constexpr int max_slot_index = (1 << 29) - 1;

constexpr slot make_slot(place where, int index, bool passing = false) {
  return {static_cast<std::uint32_t>(where), passing ? 1u : 0u, static_cast<std::uint32_t>(index)};
}
constexpr slot send_slot(int index) { return make_slot(place::send, index); }
constexpr slot recv_slot(int index) { return make_slot(place::recv, index); }
constexpr slot temp_slot(int index) { return make_slot(place::temp, index); }
constexpr slot passing(slot s) {
  s.passing = 1;
  return s;
}

enum class op_kind : std::uint8_t { copy, send, recv };

using op_id = std::int32_t;

// One step of a rank's program. A copy has two slots (from, to) and no peer; a transfer lists the blocks
// of one message in order. A transfer without slots is a token, a copy without slots a join: both only keep an order.
// `step` is the round the operation belongs to in the published algorithm; it is for people and for
// reports and never delays anything: only `after` does.
struct operation {
  op_kind kind;
  std::int32_t peer;
  std::int32_t step;
  std::uint32_t first_slot, slot_count;
  std::uint32_t first_after, after_count;
};

struct schedule {
  int ranks = 0;
  int rank = 0;
  int parts = 1;                 // of each block: send[i], recv[i] are part i % parts of block i / parts
  int last_part = 0;             // bytes that the last part of a block has at most; 0: all parts are equal
  int temp_slots = 0;            // temp ids used, each written once
  bool full_metadata = false;    // announce the sizes of arriving blocks too (published two-phase algorithms)
  bool shared_memory = false;    // messages inside a node go through memory that its ranks share, if there is any
  bool among_neighbors = false;  // there is a block for each edge of a graph, not for each rank
  std::vector<operation> operations;
  std::vector<slot> slots;   // of all operations, one after another
  std::vector<op_id> after;  // dependencies of all operations, one after another

  std::span<const slot> slots_of(const operation& op) const { return {slots.data() + op.first_slot, op.slot_count}; }
  std::span<const op_id> after_of(const operation& op) const { return {after.data() + op.first_after, op.after_count}; }
};

// Whether the operation writes the slot at this position of its list; it reads the others.
constexpr bool is_written(const operation& op, std::size_t position) {
  return op.kind == op_kind::recv || (op.kind == op_kind::copy && position == 1);
}

// Where part number `part` of a block of `bytes` bytes begins, in bytes. The parts are equally large, except for a
// limited last one. Part number `parts` stands for the end of the block.
std::int64_t begin_of_part(const schedule& program, std::int64_t part, std::int64_t bytes);

// Most temp slots alive at once when the operations run in id order: a temp slot lives from the operation that
// writes it to the last one that reads it.
int temp_peak(const schedule& program);

// The same schedule with every join replaced by the operations that it stands for, for readers that know only copies
// and transfers. The number of dependencies then grows with the square of the size of a batch.
schedule without_joins(const schedule& program);

// What one rank moves: the quantities of the cost formulas.
struct traffic {
  std::int64_t messages = 0;           // data messages sent (K)
  std::int64_t blocks = 0;             // blocks sent (D)
  std::int64_t metadata_messages = 0;  // messages with at least one announced size
  std::int64_t metadata_sizes = 0;     // sizes announced
  std::int64_t tokens = 0;             // messages without blocks
};
traffic sent_by(const schedule& program);

std::string to_string(slot s);
const char* to_string(op_kind kind);

}  // namespace shoal
