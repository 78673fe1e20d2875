// Messages between the ranks of one node through memory that they share: a channel for every pair and direction.
//
// A sender copies a message in and its receiver copies it out, in segments of at most segment_bytes(). A segment lies in one
// of the two slots of its channel. Short segments lie beside the number that says that they are there, in the same cache
// line, others in a cell of their own. The receiver publishes how many segments it has taken, in a place of its own, and
// with every segment that it sends back itself. So ranks that send to each other look at nothing else.
//
// If processes may read each other's memory, a long message is one segment that only offers the data: it says where they
// are. The receiver copies them from there, once, and the sender waits until it has. A receiver that cannot read them
// refuses the offer, and the sender sends the message again in other segments. Before a receiver reads for the first
// time, it checks that the process with the sender's number is the sender: in another container it may be another
// process.
//
// Memory: at most 8 MiB for each node and communicator, for up to 100 ranks on the node; above, 0.8 KiB for each pair.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <system_error>
#include <vector>

namespace shoal {

class node_window {
 public:
  // What is left of a message to send, and of one to receive.
  struct outgoing {
    const std::byte* data;
    std::size_t bytes;
    bool offered = false;  // its receiver has been told where the data are
    bool refused = false;  // the receiver cannot read them
  };
  struct incoming {
    std::byte* data;
    std::size_t capacity;
    bool cut = false;  // the message was longer than the capacity; nothing was written beyond it
    int error = 0;     // if not 0, the error for which the message cannot come at all: its sender has ended
  };

  static std::system_error read_failure(int error) {
    return {error, std::generic_category(), "cannot read a block from the memory of the rank that sent it"};
  }

  // The bytes of memory that this number of ranks needs. They are fewer if messages have at most `longest` bytes;
  // longer messages still pass.
  static constexpr std::size_t any = ~std::size_t{0};
  static std::size_t bytes_for(int ranks, std::size_t longest = any);
  // `memory` of bytes_for(ranks, longest) bytes, aligned to a cache line, is shared by the ranks 0..ranks-1. It begins
  // as zeros. Messages of `read_from` bytes and more are read from their sender's memory. `read_from` and `longest` are
  // the same on every rank.
  static constexpr std::size_t never = ~std::size_t{0};
  node_window(std::byte* memory, int ranks, int rank, std::size_t read_from = never, std::size_t longest = any);
  node_window(const node_window&) = delete;  // other ranks know the address of proof_
  node_window& operator=(const node_window&) = delete;

  int ranks() const { return ranks_; }
  int rank() const { return rank_; }
  std::size_t segment_bytes() const { return segment_bytes_; }

  // The messages from here on are a new exchange. A message that was pushed before is never pulled any more, but
  // dropped. A message that is still expected from before is pulled as empty once its sender has gone on. All ranks
  // call this alike.
  void begin_exchange() { ++exchange_; }
  // Takes the segments that nobody will pull any more, so that their senders need not wait.
  void drop_stale();

  // Move what can be moved now of a message to or from another rank, and return true if that was all. Messages of a
  // pair arrive in the order in which they were pushed: each goes to the next one that is pulled. The data of a message
  // must stay until it has been pushed.
  bool push(int peer, outgoing& message);
  bool pull(int peer, incoming& message);

  // How many segments were pushed and pulled so far.
  std::uint64_t segments_moved() const { return segments_moved_; }

  // Sleeps until the peer has done something, at most for so long. Does not sleep if the peer already has: it has moved
  // segments, or `happened` returns true. After doing something, ranks call wake_those_waiting().
  template <typename Happened>
  void sleep_for(int peer, int microseconds, Happened happened) {
    announce_sleep(peer);
    if (!has_moved(peer) && !happened()) sleep(peer, microseconds);
    end_sleep();
  }
  void wake_those_waiting();

 private:
  static constexpr std::uint32_t slots = 2;
  static constexpr std::size_t short_bytes = 40;

  struct alignas(64) line {
    std::atomic<std::uint32_t> number;  // of the segment in it, counted from 1
    std::uint32_t taken;                // segments that the line's writer has taken from its reader
    std::uint64_t bytes : 63;           // of the message from this segment on
    std::uint64_t offered : 1;          // the message is not here: `data` begins with the address where it is
    std::uint64_t exchange;             // that the segment belongs to; ranks may be many exchanges apart
    std::byte data[short_bytes];
  };
  struct alignas(64) sleeper {
    std::atomic<std::int32_t> sleeper_waits_for;  // rank + 1; 0: nobody sleeps here
    std::int64_t process;
    std::uint64_t proof;            // a number that only memory of this process holds
    const std::uint64_t* proof_at;  // where in its memory
  };
  struct receipt {                          // of what a sender sent to a receiver
    std::atomic<std::uint32_t> taken;       // segments that the receiver has taken
    std::atomic<std::uint32_t> is_refusal;  // whether the last offer among them was refused
  };
  static std::size_t segment_bytes_for(int ranks, std::size_t longest);
  static std::size_t receipts_bytes(int ranks);

  std::size_t channel(int from, int to) const { return static_cast<std::size_t>(to) * ranks_ + from; }
  line& line_of(int from, int to, std::uint32_t segment) { return lines_[channel(from, to) * slots + segment % slots]; }
  std::byte* place_of(line& in, std::uint64_t bytes) {
    return bytes <= short_bytes ? in.data : cells_ + static_cast<std::size_t>(&in - lines_) * cell_bytes_;
  }
  receipt& receipt_of(int receiver, int sender);
  bool has_taken_all_but(int peer, std::uint32_t most);
  bool offer(int peer, outgoing& message);
  void publish(int peer, line& filled, std::uint64_t bytes, bool offered);
  bool may_read(int peer);
  int read(int peer, const line& offer, std::byte* to, std::size_t bytes);
  bool take_offer(int peer, const line& offer, incoming& message, std::size_t bytes);
  void take(int peer);
  void drop_stale(int peer);
  bool has_moved(int peer);
  void announce_sleep(int peer);
  void sleep(int peer, int microseconds);
  void end_sleep();

  int ranks_, rank_;
  std::size_t segment_bytes_, cell_bytes_, read_from_;
  sleeper* sleepers_;
  std::byte* receipts_;
  line* lines_;
  std::byte* cells_;

  struct state {               // of the channels to and from a peer
    std::uint32_t pushed = 0;  // segments
    std::uint32_t pulled = 0;
    std::uint32_t taken = 0;       // by the peer, as far as known
    std::optional<bool> readable;  // whether the peer's memory is; empty: not tried yet
  };
  std::vector<state> peers_;
  std::uint64_t segments_moved_ = 0;
  std::uint64_t exchange_ = 0;
  const std::uint64_t proof_;
};

}  // namespace shoal
