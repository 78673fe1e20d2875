// Small blocks between the ranks of one node. In every exchange each rank writes its blocks for the others, one after
// the other, into a row of shared memory, and publishes the row's number. Each rank waits for the rows of the ranks
// from which it expects something, and copies its own blocks out. A rank has two rows and uses them in turn. It writes
// a row again when all ranks that had something to read there have published their row of the next exchange, and so
// have read this one. So nothing else has to be synchronised, and ranks that have nothing for each other do not wait
// for each other.
//
// A rank may expect something by mistake, and then its peer does not wait for it either, and may write the row anew
// while the rank looks at it. So a row has no number while it is written, and what it says about a block counts only if
// its number is still there afterwards. The block itself stays: whoever has something to read is waited for.
//
// Memory: 4 MiB for each node and communicator, for up to 1000 ranks on the node.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace shoal {

class node_rows {
 public:
  // The bytes of memory that the rows need. They are fewer if a rank has at most `most` bytes for all others. A rank
  // with more bytes finds no room in its row for all of them.
  static constexpr std::size_t any = ~std::size_t{0};
  static constexpr std::size_t largest_row = 32768;
  static std::size_t bytes_for(int ranks, std::size_t most = any);
  // `memory` of bytes_for(ranks, most) bytes, aligned to a cache line, is shared by the ranks 0..ranks-1; it begins as
  // zeros.
  node_rows(std::byte* memory, int ranks, int rank, std::size_t most = any);

  int ranks() const { return ranks_; }
  int rank() const { return rank_; }

  // A rank that has still to read what the next row replaces. -1 if there is none, so that begin() may be called.
  int awaited_reader();
  // Begins this rank's row of the next exchange. Then add() a block for each rank in order, itself included, and
  // publish().
  void begin();
  // Called instead on a rank that takes no part in the next exchange: its row has no blocks, and is published before
  // the row after it.
  void skip() { ++skipped_; }
  // Where to write the next block, or null if there is no room: then the block has to travel in another way.
  std::byte* add(std::size_t bytes);
  // The block that was added last has no bytes after all.
  void empty_last() { end_ = row_of(rank_, number_).at[next_ - 1].load(std::memory_order_relaxed); }
  void publish();
  // The same, if the block that was added last, and those that are missing, have no bytes after all.
  void publish_early();

  // Whether the peer's row of the current exchange is there. A later row may be there instead: then the current one had
  // nothing for this rank.
  bool is_there(int peer);
  struct block {
    const std::byte* data;
    std::size_t bytes;
    bool elsewhere;  // there was no room in the row
  };
  block block_from(int peer) const;

 private:
  struct row {
    std::atomic<std::uint64_t> number;  // of its exchange; 0 while it is written
    // Where each rank's block begins, behind the row's head, and where the last one ends.
    std::atomic<std::uint16_t> at[];
  };
  static constexpr std::uint16_t elsewhere = 1 << 15;
  static std::size_t row_bytes(int ranks, std::size_t most);
  static std::size_t head_bytes(int ranks);

  row& row_of(int rank, std::uint64_t number) const {
    return *reinterpret_cast<row*>(memory_ + (static_cast<std::size_t>(rank) * 2 + number % 2) * row_bytes_);
  }
  bool has_begun(int peer, std::uint64_t number);
  int awaited_reader_of_next();
  void publish_empty_row();

  std::byte* memory_;
  int ranks_, rank_;
  std::size_t row_bytes_, head_bytes_;
  std::uint64_t number_ = 0;          // of the current exchange
  int skipped_ = 0;                   // exchanges after it in which this rank takes no part
  std::vector<std::uint64_t> begun_;  // the last exchange that each rank is known to have begun
  std::vector<int> readers_[2];       // of each row: ranks with something to read there that may not have read it yet
  int next_ = 0;                      // the rank of the next block to add
  std::size_t end_ = 0;               // where the blocks in the row end
};

}  // namespace shoal
