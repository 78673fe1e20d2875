// Runs one rank's program over a transport. Blocking is start() and progress() until it is done; nonblocking and
// persistent exchanges are the same object.
//
// It always runs to its end, whatever fails on the way: every message that a peer waits for is sent and every one that
// was asked for is received, so that nothing stays posted into the user's memory and nothing is left for a later
// exchange. A block that did not arrive as it should is lost; a message with a lost block travels without data, which its
// receiver sees. Every rank that lost a block knows of a failure at the end.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "execute/cut_buffer.hpp"
#include "execute/memory_pool.hpp"
#include "execute/phases.hpp"
#include "execute/program.hpp"
#include "execute/tag_turns.hpp"
#include "execute/user_buffer.hpp"
#include "transport/failure.hpp"
#include "transport/transport.hpp"
#include "transport/waiting.hpp"

namespace shoal {

// What the blocks of one exchange are.
struct payload {
  user_buffer send, recv;
  std::optional<std::size_t> uniform;  // packed bytes of every block, where all have the same: then none is announced
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
  // Between exchanges, and the same on every rank.
  void set_inline_bytes(std::size_t bytes) { inline_bytes_ = bytes; }
  // Exchanges under way at the same time between the same ranks need tags of their own, the same on every rank.
  // Where one of a run's transfers was abandoned, later runs with the same tags may get its messages: they end in its error, and
  // tell others that their blocks are lost.
  void set_tags(tag_range tags) {
    abandoned_ = abandoned_ && tags.first == tags_.first;
    tags_ = tags;
  }
  // Null: no clock. It must stay; whoever starts an exchange begins it.
  void record_phases(phase_clock* clock) { phases_ = clock; }
  exchange(const exchange&) = delete;
  exchange& operator=(const exchange&) = delete;

  // `what` and the memory it names must stay until the exchange is done. Its blocks are whole; they are cut here where
  // the program moves parts. An exchange that is repeated starts again: no rank knows whether all others got the sizes
  // that it was told of in the run before, so they travel again.
  void start(const program& how, const payload& what);
  // Moves everything that can move now. True when the exchange is done; `moved` tells if anything arrived.
  bool progress(bool& moved);
  // Until it is done.
  void run_to_end(waiting& wait);
  bool done() const { return remaining_ == 0; }
  // What failed in the exchange that is done; null: nothing.
  const std::exception_ptr& failure() const { return failure_.what(); }

  const exchange_counters& counters() const { return counters_; }
  // What it keeps of a program while that runs, besides the blocks themselves.
  static std::size_t bytes_for(const program& how);

 private:
  // A piece of pool memory that holds blocks or a message under way.
  struct piece {
    std::byte* data = nullptr;
    std::size_t bytes = 0;
    int users = 0;           // blocks still to leave it, and the transfer that uses it
    bool abandoned = false;  // with a transfer that may use it for ever
  };
  static constexpr int none = -1;

  // Of blocks that others get from here: lost ones have no data, and of unknown ones even the size is lost.
  enum class condition : std::uint8_t { whole, lost, unknown };

  // A block in a temp slot: where it is, and in which piece.
  struct held_block {
    const std::byte* data = nullptr;
    std::size_t bytes = 0;
    int piece = none;
    int readers = 0;
    condition is = condition::whole;
  };

  // What an operation under way uses.
  struct running {
    int transfers = 0;      // started and not ended
    int sizes = none;       // piece with the announced sizes, perhaps with the data behind them
    int data = none;        // piece with the packed data
    std::size_t total = 0;  // bytes of data that are expected
    bool direct = false;    // the data moves straight from or to where it stays
  };

  enum class part { sizes, data };
  // The first byte of a message with announced sizes: the data are behind them, in a message of their own, or nowhere,
  // and then perhaps the sizes are none either.
  enum class data_at : std::uint8_t { behind, next_message, nowhere, nowhere_nor_sizes };

  void finish();
  void cut_blocks();
  void join_blocks();
  void run_ready();
  void run(op_id id);
  void run_copy(const operation& op);
  void complete(op_id id);
  void ended(const ended_transfer& one);
  void abandon();

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
  void lose(op_id id, condition how);
  void lose(slot s, std::size_t bytes, condition how);

  const operation& op(op_id id) const { return how_->plan.operations[id]; }
  std::span<const slot> blocks(op_id id) const { return how_->plan.slots_of(op(id)); }
  bool announced(op_id id) const { return !what_.uniform && how_->announced[id] > 0; }
  int tag(op_id id, part which) const;
  void lap(phase p) {
    if (phases_) phases_->lap(p);
  }
  // The message has ended, or what the caller had to do for it.
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

  int take_piece(std::size_t bytes, int users);
  void release_piece(int index);
  void forget_pieces();
  void hold(slot s, int from, std::size_t offset, std::size_t bytes);
  void read_done(slot s);

  memory_pool& pool_;
  transport& over_;
  std::size_t inline_bytes_;
  tag_range tags_;
  const program* how_ = nullptr;
  payload what_;
  cut_buffer cut_send_, cut_recv_;
  exchange_counters counters_;
  first_failure failure_;
  phase_clock* phases_ = nullptr;

  std::size_t remaining_ = 0;
  std::vector<std::int32_t> before_;
  std::vector<op_id> ready_;
  std::vector<op_id> held_back_;    // receives behind sizes that have not arrived yet
  std::vector<char> awaits_sizes_;  // by peer whose messages match by order
  std::vector<running> running_;
  std::vector<held_block> temp_;
  bool send_packed_ = true;               // where its blocks are cut and packed for that
  bool abandoned_ = false;                // transfers, with these tags
  bool doubtful_ = false;                 // so were some of an earlier run: what arrives may be of that one
  std::vector<std::uint32_t> lost_recv_;  // recv slots in which there is not what should be
  std::vector<piece> pieces_;
  memory_pool::tally taken_;
  std::vector<int> free_pieces_;
  std::vector<ended_transfer> ended_;
};

}  // namespace shoal
