// Small blocks between the ranks of one node: in every exchange each rank writes those it has for the others one behind
// the other into a row of shared memory and publishes the row's number; each waits for the rows of those from which it
// expects something and copies its own blocks out. A rank has two rows and uses them in turn. It writes one again when
// all who had something to read there have published the row after it, hence read it: so nothing else has to be
// synchronised, and ranks that have nothing for each other do not wait for each other.
//
// Memory: 4 MiB a node and communicator for up to 1000 ranks on it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace shoal {

class node_rows {
 public:
  // Less where a rank has at most `most` bytes for all others; more of it finds less room.
  static constexpr std::size_t any = ~std::size_t{0};
  static constexpr std::size_t largest_row = 32768;
  static std::size_t bytes_for(int ranks, std::size_t most = any);
  // `memory` of bytes_for(ranks, most) bytes, aligned to a cache line, is shared by the ranks 0..ranks-1; it begins as
  // zeros.
  node_rows(std::byte* memory, int ranks, int rank, std::size_t most = any);

  int ranks() const { return ranks_; }
  int rank() const { return rank_; }

  // The first rank that has still to read what the next row replaces; -1: there is none, and begin() may be called.
  int awaited_reader();
  // This rank's row of the next exchange: a block for every rank in order, its own included, then publish().
  void begin();
  // Instead, on a rank that takes no part in the next exchange: its row is without blocks, and published before the next one.
  void skip() { ++skipped_; }
  // Where to write the block, or null when there is no room: then it has to travel another way.
  std::byte* add(std::size_t bytes);
  // The block added last has no bytes after all.
  void empty_last() { end_ = row_of(rank_, number_).at[next_ - 1]; }
  void publish();

  // A rank's row of the current exchange.
  // A later one may be there instead: then this one had nothing for this rank.
  bool is_there(int peer);
  struct block {
    const std::byte* data;
    std::size_t bytes;
    bool elsewhere;  // there was no room
  };
  block block_from(int peer) const;

 private:
  struct row {
    std::atomic<std::uint64_t> number;
    std::uint16_t at[];  // of each rank's block, behind the row's head, and where the last one ends
  };
  static constexpr std::uint16_t elsewhere = 1 << 15;
  static std::size_t row_bytes(int ranks, std::size_t most);
  static std::size_t head_bytes(int ranks);

  row& row_of(int rank, std::uint64_t number) const {
    return *reinterpret_cast<row*>(memory_ + (static_cast<std::size_t>(rank) * 2 + number % 2) * row_bytes_);
  }
  bool has_begun(int peer, std::uint64_t number);
  int awaited_reader_of_next();
  void publish_none();

  std::byte* memory_;
  int ranks_, rank_;
  std::size_t row_bytes_, head_bytes_;
  std::uint64_t number_ = 0;          // of the current exchange
  int skipped_ = 0;                   // exchanges behind it
  std::vector<std::uint64_t> begun_;  // the last exchange that each rank is known to have begun
  std::vector<int> readers_[2];       // who had something to read in each row and has not been seen to have done so
  int next_ = 0;                      // block to add
  std::size_t end_ = 0;               // of the blocks in the row
};

}  // namespace shoal
