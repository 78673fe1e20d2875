// Runs one rank's schedule over a transport. A blocking exchange calls start(), and then progress() until it is done;
// nonblocking and persistent exchanges use the same object.
//
// An exchange always runs to its end, whatever fails on the way: it sends every message that a peer waits for, and ends
// every receive. So nothing stays posted into the user's memory, and no message is left for a later exchange. A block
// that did not arrive as it should is lost. A message with a lost block travels without data, and its receiver sees
// that. At the end every rank that lost a block knows of a failure.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "execute/cut_buffer.hpp"
#include "execute/memory_pool.hpp"
#include "execute/phases.hpp"
#include "execute/linked_schedule.hpp"
#include "execute/tag_turns.hpp"
#include "execute/user_buffer.hpp"
#include "transport/failure.hpp"
#include "transport/transport.hpp"
#include "transport/waiting.hpp"

namespace shoal {

// What the blocks of one exchange are.
struct payload {
  user_buffer send, recv;
  std::optional<std::size_t> uniform;  // packed bytes of every block, if all are equal: then no sizes are announced
};

struct exchange_counters {
  std::int64_t messages = 0;  // sent, with blocks; two when sizes travel apart from their data
  std::int64_t bytes = 0;     // sent, sizes included
};

class exchange {
 public:
  // Announced sizes travel in front of the data when a message's data have at most this many bytes, else in a
  // message of their own. The same on every rank.
  static constexpr std::size_t standard_inline_bytes = 16384;

  exchange(memory_pool& pool, transport& over, std::size_t inline_bytes = standard_inline_bytes)
      : pool_(pool),
        over_(over),
        inline_bytes_(inline_bytes),
        tags_{1, over.highest_tag()},
        cut_send_(pool),
        cut_recv_(pool),
        awaits_sizes_(static_cast<std::size_t>(over.ranks())) {}
  // To be called between exchanges, with the same number on every rank.
  void set_inline_bytes(std::size_t bytes) { inline_bytes_ = bytes; }
  // Exchanges under way at the same time between the same ranks need tags of their own, the same on every rank. If a
  // transfer of a run was abandoned, later runs with the same tags may get the messages of that run. So they end with
  // its error, and tell other ranks that their blocks are lost.
  void set_tags(tag_range tags) {
    abandoned_ = abandoned_ && tags.first == tags_.first;
    tags_ = tags;
  }
  // Null: no clock. The clock must stay until another is set. Whoever starts an exchange calls its begin().
  void record_phases(phase_clock* clock) { phases_ = clock; }
  exchange(const exchange&) = delete;
  exchange& operator=(const exchange&) = delete;

  // `steps` and the memory that `what` names must stay until the exchange is done. The blocks of `what` are whole;
  // start() cuts them if the schedule moves parts. If an exchange is repeated, the sizes travel again: no rank knows
  // whether all others were told, in the run before, the sizes that it was told.
  void start(const linked_schedule& steps, const payload& what);
  // Moves everything that can move now. Returns true when the exchange is done; `moved` tells whether any transfer
  // ended.
  bool progress(bool& moved);
  // Moves the exchange, and waits, until it is done.
  void run_to_end(waiting& wait);
  bool done() const { return remaining_ == 0; }
  // What failed in the exchange, once it is done; null if nothing did.
  const std::exception_ptr& failure() const { return failure_.what(); }

  const exchange_counters& counters() const { return counters_; }
  // The memory that an exchange keeps for a schedule while it runs, besides the blocks themselves.
  static std::size_t bytes_for(const linked_schedule& steps);

 private:
  // A buffer of pool memory that holds blocks or a message under way.
  struct buffer {
    std::byte* data = nullptr;
    std::size_t bytes = 0;
    int users = 0;           // blocks that have still to leave the buffer, and the transfer that uses it
    bool abandoned = false;  // an abandoned transfer may use the buffer for ever
  };
  static constexpr int none = -1;

  // The condition of a block that others get from this rank: a lost block has no data, an unknown one not even a size.
  enum class condition : std::uint8_t { whole, lost, unknown };

  // A block in a temp slot: where it is, and in which buffer.
  struct held_block {
    const std::byte* data = nullptr;
    std::size_t bytes = 0;
    int buffer = none;
    int readers = 0;
    condition is = condition::whole;
  };

  // What an operation under way uses.
  struct running {
    int transfers = 0;      // started and not ended
    int sizes = none;       // buffer with the announced sizes, perhaps with the data behind them
    int data = none;        // buffer with the packed data
    std::size_t total = 0;  // bytes of data that are expected
    bool direct = false;    // the data move straight from or to their place, without a buffer
  };

  enum class part { sizes, data };
  // The first byte of a message with announced sizes says where the data are: behind the sizes, in the next message, or
  // nowhere. With nowhere_nor_sizes the announced sizes mean nothing either.
  enum class data_at : std::uint8_t { behind, next_message, nowhere, nowhere_nor_sizes };

  void finish();
  void cut_blocks();
  void join_blocks();
  void run_those_that_wait_for_nothing();
  void run_ready();
  void run(op_id id);
  void run_copy(const operation& op);
  void complete(op_id id);
  void ended(const ended_transfer& one);
  void abandon();
  void abandon_cuts();

  void start_send(op_id id);
  void send_sizes(op_id id, data_at where);
  void send_data(op_id id, std::size_t total);
  void end_send(op_id id);

  void start_receive(op_id id);
  void receive_next(int peer);
  void receive_data(op_id id, std::size_t total, bool surely = false);
  void sizes_arrived(op_id id, const ended_transfer& message);
  data_at read_sizes(op_id id, const std::byte*& in, const std::byte* end);
  void data_arrived(op_id id, const ended_transfer& message);
  void deliver(op_id id, int from, std::size_t offset);
  void unpack(slot to, const std::byte* from, std::size_t bytes);
  condition condition_of(slot s) const;
  condition worst(op_id id) const;
  void lose(op_id id, condition left_as);
  void lose(slot s, std::size_t bytes, condition left_as);

  const operation& op(op_id id) const { return steps_->operations[id]; }
  std::span<const slot> blocks(op_id id) const { return steps_->slots_of(op(id)); }
  bool announced(op_id id) const { return !what_.uniform && steps_->announced[id] > 0; }
  int tag(op_id id, part which) const;
  void lap(phase p) {
    if (phases_) phases_->lap(p);
  }
  // Called when a message has ended, or when this rank has done its work for it.
  void lap(op_id id, part which) {
    if (!phases_) return;
    const bool sizes_alone = which == part::sizes && total_bytes(id) > inline_bytes_;
    phases_->lap(phases_->of_message(op(id).peer, sizes_alone));
  }
  int ticket(op_id id, part which) const { return id * 2 + (which == part::data); }

  std::size_t bytes_of(slot s) const;
  std::size_t total_bytes(op_id id) const;
  const std::byte* address_of(slot s) const;
  const std::byte* contiguous_source(op_id id) const;
  std::byte* contiguous_target(op_id id) const;
  void pack(slot s, std::byte* out) const;
  bool gather(op_id id, std::byte* out);
  void release_sources(op_id id);

  int take_buffer(std::size_t bytes, int users);
  void release_buffer(int index);
  void forget_buffers();
  void hold(slot s, int from, std::size_t offset, std::size_t bytes);
  void read_done(slot s);

  memory_pool& pool_;
  transport& over_;
  std::size_t inline_bytes_;
  tag_range tags_;
  const linked_schedule* steps_ = nullptr;
  payload what_;
  cut_buffer cut_send_, cut_recv_;
  exchange_counters counters_;
  first_failure failure_;
  phase_clock* phases_ = nullptr;

  std::size_t remaining_ = 0;
  std::vector<std::int32_t> before_;
  std::vector<op_id> ready_;
  std::vector<op_id> held_back_;    // receives that wait for sizes which have not arrived yet
  std::vector<char> awaits_sizes_;  // by peer; only for peers whose messages match by order
  std::vector<running> running_;
  std::vector<held_block> temp_;
  bool send_packed_ = true;               // false: the send blocks could not be packed before they are cut
  bool abandoned_ = false;                // some transfer with these tags was abandoned, or may never be received
  bool may_get_old_messages_ = false;     // that was in an earlier run, so what arrives may belong to that run
  std::vector<std::uint32_t> lost_recv_;  // recv slots that did not get their block
  std::vector<buffer> buffers_;
  memory_pool::tally taken_;
  std::vector<int> free_buffers_;
  std::vector<ended_transfer> ended_;
};

}  // namespace shoal
