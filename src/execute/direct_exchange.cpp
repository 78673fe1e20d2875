#include "execute/direct_exchange.hpp"

#include <algorithm>

namespace shoal {

direct_exchange::direct_exchange(memory_pool& pool, node_rows& rows, node_window& window, std::span<const int> ranks)
    : pool_(pool), rows_(rows), window_(window), ranks_(ranks.begin(), ranks.end()) {
  rows_awaited_.reserve(ranks_.size());
  without_room_.reserve(ranks_.size());
  sends_.reserve(ranks_.size());
  receives_.reserve(ranks_.size());
}

direct_exchange::~direct_exchange() { forget(); }

// Drops what is under way, if an error while waiting has ended an exchange. A receiver may still read a block that it
// was offered, so that memory is never used for anything else.
void direct_exchange::forget() {
  if (!written_) rows_.skip();
  written_ = true;
  for (send& one : sends_)
    if (one.message.offered) one.packed.abandon();
  sends_.clear();
  receives_.clear();
  rows_awaited_.clear();
}

void direct_exchange::start(const payload& what) {
  lap(phase::prepare);
  forget();
  what_ = what;
  taken_.clear();
  failure_.clear();
  written_ = false;
  bool moved = false;
  progress(moved);
}

// Writes this rank's row as soon as the row that it replaces has been read. Afterwards the rank waits only for the rows
// of ranks that have a block for it.
bool direct_exchange::try_to_write() {
  if (rows_.awaited_reader() >= 0) return false;
  write_row();
  lap(phase::replace);
  for (int peer : without_room_) send_in_segments(peer);
  window_.wake_those_waiting();
  lap(phase::data);
  copy_own();
  lap(phase::rearrange);
  for (int i = 1; i < rows_.ranks(); ++i) {
    const int peer = (rows_.rank() + i) % rows_.ranks();
    if (what_.recv.bytes(ranks_[peer]) > 0) rows_awaited_.push_back(peer);
  }
  return true;
}

// A block that cannot be packed travels without bytes: its receiver sees that it does not have the expected size.
void direct_exchange::write_row() {
  without_room_.clear();
  rows_.begin();
  written_ = true;
  try {
    for (int peer = 0; peer < rows_.ranks(); ++peer) add_block(peer);
  } catch (...) {  // out of memory, which the program may survive; then the ranks must still be in step
    rows_.publish_early();
    throw;
  }
  rows_.publish();
}

void direct_exchange::add_block(int peer) {
  const int rank = ranks_[peer];
  if (std::byte* const place = rows_.add(peer == rows_.rank() ? 0 : what_.send.bytes(rank))) {
    if (peer != rows_.rank() && !failure_.attempt([&] { what_.send.pack(rank, place); })) rows_.empty_last();
  } else {
    without_room_.push_back(peer);
  }
}

void direct_exchange::copy_own() {
  const int self = ranks_[rows_.rank()];
  const std::size_t bytes = what_.recv.bytes(self);
  if (bytes != what_.send.bytes(self)) return failure_.note(size_mismatch());
  failure_.attempt([&] {
    if (!what_.send.packs(self)) return what_.recv.unpack(self, what_.send.block(self));
    if (!what_.recv.packs(self)) return what_.send.pack(self, what_.recv.block(self));
    const pool_memory packed(pool_, bytes, taken_);
    what_.send.pack(self, packed.data());
    what_.recv.unpack(self, packed.data());
  });
}

pool_memory direct_exchange::memory_to_pack(const user_buffer& of, int rank) {
  return of.packs(rank) ? pool_memory(pool_, of.bytes(rank), taken_) : pool_memory();
}

void direct_exchange::send_in_segments(int peer) {
  const user_buffer& from = what_.send;
  const int rank = ranks_[peer];
  send one{peer, {from.block(rank), from.bytes(rank)}, memory_to_pack(from, rank)};
  if (one.packed) {
    if (!failure_.attempt([&] { from.pack(rank, one.packed.data()); })) one.message.bytes = 0;
    one.message.data = one.packed.data();
  }
  if (!push(one)) sends_.push_back(std::move(one));
}

void direct_exchange::receive_in_segments(int peer) {
  const user_buffer& to = what_.recv;
  const int rank = ranks_[peer];
  receive one{peer, {to.block(rank), to.bytes(rank)}, memory_to_pack(to, rank)};
  if (one.packed) one.message.data = one.packed.data();
  if (!pull(one)) receives_.push_back(std::move(one));
}

bool direct_exchange::read_row(int peer) {
  if (!rows_.is_there(peer)) return false;
  lap(phase::data);
  const node_rows::block block = rows_.block_from(peer);
  const int rank = ranks_[peer];
  if (block.elsewhere) receive_in_segments(peer);
  else if (block.bytes != what_.recv.bytes(rank)) failure_.note(size_mismatch());
  else failure_.attempt([&] { what_.recv.unpack(rank, block.data); });
  lap(block.elsewhere ? phase::data : phase::rearrange);
  return true;
}

bool direct_exchange::pull(receive& one) {
  if (!window_.pull(one.peer, one.message)) return false;
  const node_window::incoming& got = one.message;
  if (got.error) failure_.note(node_window::read_failure(got.error));
  else if (got.cut || got.capacity > 0) failure_.note(size_mismatch());
  else if (one.packed) failure_.attempt([&] { what_.recv.unpack(ranks_[one.peer], one.packed.data()); });
  return true;
}

bool direct_exchange::progress(bool& moved) {
  const bool write = !written_;
  if (write && !try_to_write()) return moved = false;
  const std::size_t awaited = rows_awaited_.size();
  const std::uint64_t segments = window_.segments_moved();
  std::erase_if(receives_, [&](receive& one) { return pull(one); });
  std::erase_if(sends_, [&](send& one) { return push(one); });
  std::erase_if(rows_awaited_, [&](int peer) { return read_row(peer); });
  const bool segments_moved = window_.segments_moved() != segments;
  if (segments_moved) window_.wake_those_waiting();
  moved = write || segments_moved || rows_awaited_.size() != awaited;
  if (moved) lap(phase::data);
  if (!done()) return false;
  pool_.make_ready(taken_);
  return true;
}

void direct_exchange::drop_stale() {
  const std::uint64_t before = window_.segments_moved();
  window_.drop_stale();
  if (window_.segments_moved() != before) window_.wake_those_waiting();
}

void direct_exchange::sleep(int microseconds) {
  if (const int reader = written_ ? -1 : rows_.awaited_reader(); reader >= 0)
    return window_.sleep_for(reader, microseconds, [&] { return rows_.awaited_reader() != reader; });
  if (!written_) return;
  if (!rows_awaited_.empty()) {
    const int peer = rows_awaited_.back();
    return window_.sleep_for(peer, microseconds, [&] { return rows_.is_there(peer); });
  }
  const int peer = receives_.empty() ? sends_.back().peer : receives_.back().peer;
  window_.sleep_for(peer, microseconds, [] { return false; });
}

}  // namespace shoal
