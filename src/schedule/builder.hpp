// Builds the schedule of one rank, operation by operation.
#pragma once

#include <span>
#include <vector>

#include "schedule/schedule.hpp"

namespace shoal {

// The builder finds the data dependencies: an operation that reads a slot comes after the operation that wrote it.
// Algorithms state only the order that they want beyond that (rounds, batches, windows).
class builder {
 public:
  builder(int ranks, int rank);

  int ranks() const { return program_.ranks; }
  int rank() const { return program_.rank; }

  slot new_temp();
  // The following operations belong to this step.
  void step(int number) { step_ = number; }

  op_id copy(slot from, slot to, std::span<const op_id> after = {});
  // Adds an operation that does nothing: what comes after it comes after all operations of `after`.
  op_id join(std::span<const op_id> after);
  // Sends the blocks in the order given. The sizes of blocks that are marked passing() are announced.
  op_id send(int peer, std::span<const slot> blocks, std::span<const op_id> after = {});
  // A block that is received into a temp slot passes through, so it needs no mark.
  op_id recv(int peer, std::span<const slot> blocks, std::span<const op_id> after = {});

  // Whether this operation comes after any other.
  bool waits(op_id id) const { return program_.operations[id].after_count > 0; }

  // Every block travels in `parts` parts, each in slots of its own. The last part has at most `last_part` bytes; 0: all
  // parts are equally large.
  void cut_blocks(int parts, int last_part = 0) {
    program_.parts = parts;
    program_.last_part = last_part;
  }
  // The sizes of all blocks travel, not only those of blocks that pass through.
  void announce_all_sizes() { program_.full_metadata = true; }

  schedule finish() { return std::move(program_); }

 private:
  op_id add(op_kind kind, int peer, std::span<const op_id> after);
  void depend_on_writer(slot read);
  void depend_on(op_id earlier);
  void written(slot target, op_id writer);

  schedule program_;
  int step_ = 0;
  std::vector<op_id> temp_writer_, recv_writer_;  // -1: not written by an operation so far
  std::vector<op_id> marked_;                     // per operation: the last operation that depends on it
};

// Makes the operations of a later group wait for those of earlier groups: with `width` groups in flight,
// group g comes after everything in group g - width. width 1 gives rounds, larger ones windows or batches. A group
// without operations does not count, so the group behind it still waits for those before it.
class window {
 public:
  explicit window(int width) : groups_(width < 1 ? 1 : width) {}
  // The operations after which those of the group being built have to come.
  std::span<const op_id> before() const { return groups_[current_]; }
  void add(op_id id) { building_.push_back(id); }
  void next_group();
  // Lets the group being built wait for one join instead of for each of many operations, so that the number of
  // dependencies grows with the number of operations, not with its square.
  void join(builder& b);

 private:
  std::vector<std::vector<op_id>> groups_;
  std::vector<op_id> building_;
  std::size_t current_ = 0;
};

}  // namespace shoal
