#include "transport/node_rows.hpp"

#include <algorithm>

namespace shoal {

namespace {

constexpr std::size_t line_bytes = 64;
constexpr std::size_t most_bytes = std::size_t{4} << 20;

static_assert(std::atomic<std::uint64_t>::is_always_lock_free && std::atomic<std::uint16_t>::is_always_lock_free);

}  // namespace

std::size_t node_rows::head_bytes(int ranks) {
  const std::size_t bytes = sizeof(row) + (static_cast<std::size_t>(ranks) + 1) * sizeof(std::uint16_t);
  return (bytes + 7) / 8 * 8;
}

// One line is taken off, because rows that are a power of two apart compete for the same places of a cache.
std::size_t node_rows::row_bytes(int ranks, std::size_t most) {
  const std::size_t share = most_bytes / (2 * static_cast<std::size_t>(ranks)) / line_bytes * line_bytes;
  const std::size_t least = (head_bytes(ranks) / line_bytes + 16) * line_bytes;
  const std::size_t content = head_bytes(ranks) + std::min(most, largest_row);
  const std::size_t needed = (content / line_bytes + 2) * line_bytes;
  return std::max(std::min({share, largest_row, needed}), least) - line_bytes;
}

std::size_t node_rows::bytes_for(int ranks, std::size_t most) {
  return 2 * static_cast<std::size_t>(ranks) * row_bytes(ranks, most);
}

node_rows::node_rows(std::byte* memory, int ranks, int rank, std::size_t most)
    : memory_(memory),
      ranks_(ranks),
      rank_(rank),
      row_bytes_(row_bytes(ranks, most)),
      head_bytes_(head_bytes(ranks)),
      begun_(static_cast<std::size_t>(ranks)) {
  for (auto& readers : readers_) readers.reserve(begun_.size());
}

// The numbers in a peer's rows only grow, but a row has none while it is written. Both rows are looked at, because the
// peer may be ahead, and then it is not known which of them is the later one.
bool node_rows::has_begun(int peer, std::uint64_t number) {
  if (begun_[peer] >= number) return true;
  for (std::uint64_t row : {0, 1})
    begun_[peer] = std::max(begun_[peer], row_of(peer, row).number.load(std::memory_order_acquire));
  return begun_[peer] >= number;
}

int node_rows::awaited_reader() {
  int reader = awaited_reader_of_next();
  for (; reader < 0 && skipped_ > 0; --skipped_) {
    publish_empty_row();
    reader = awaited_reader_of_next();
  }
  return reader;
}

void node_rows::publish_empty_row() {
  begin();
  for (int peer = 0; peer < ranks_; ++peer) add(0);
  publish();
}

int node_rows::awaited_reader_of_next() {
  std::vector<int>& readers = readers_[(number_ + 1) % 2];
  while (!readers.empty() && has_begun(readers.back(), number_)) readers.pop_back();
  return readers.empty() ? -1 : readers.back();
}

// With this fence and the one in block_from(), a reader that has seen anything of the new row no longer finds the old
// row's number.
void node_rows::begin() {
  ++number_;
  next_ = 0;
  end_ = 0;
  row_of(rank_, number_).number.store(0, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);
}

std::byte* node_rows::add(std::size_t bytes) {
  row& mine = row_of(rank_, number_);
  if (bytes > 0 && next_ != rank_) readers_[number_ % 2].push_back(next_);
  const bool fits = bytes <= row_bytes_ - head_bytes_ - end_;
  const auto at = static_cast<std::uint16_t>(end_);
  mine.at[next_++].store(fits ? at : at | elsewhere, std::memory_order_relaxed);
  if (!fits) return nullptr;
  end_ += bytes;
  return reinterpret_cast<std::byte*>(&mine) + head_bytes_ + at;
}

void node_rows::publish() {
  row& mine = row_of(rank_, number_);
  mine.at[ranks_].store(static_cast<std::uint16_t>(end_), std::memory_order_relaxed);
  mine.number.store(number_, std::memory_order_release);
}

void node_rows::publish_early() {
  empty_last();
  while (next_ < ranks_) add(0);
  publish();
}

bool node_rows::is_there(int peer) {
  const std::uint64_t number = row_of(peer, number_).number.load(std::memory_order_acquire);
  begun_[peer] = std::max(begun_[peer], number);
  return number >= number_;
}

node_rows::block node_rows::block_from(int peer) const {
  const row& theirs = row_of(peer, number_);
  const std::uint16_t at = theirs.at[rank_].load(std::memory_order_relaxed);
  const std::uint16_t end = theirs.at[rank_ + 1].load(std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_acquire);
  if (theirs.number.load(std::memory_order_relaxed) != number_) return {nullptr, 0, false};
  const std::size_t begin = at & ~elsewhere;
  return {reinterpret_cast<const std::byte*>(&theirs) + head_bytes_ + begin, (end & ~elsewhere) - begin,
          (at & elsewhere) != 0};
}

}  // namespace shoal
