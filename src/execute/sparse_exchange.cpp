#include "execute/sparse_exchange.hpp"

#include <algorithm>

#include "transport/copy_bytes.hpp"

namespace shoal {

namespace {

struct arrival {
  parcels::label what;
  const std::byte* block;  // the block itself, if the parcel holds it
};

std::vector<arrival> by_source(const parcels& held) {
  std::vector<arrival> all;
  held.each(
      [&](const parcels::label& what, const std::byte* block, const std::byte*) { all.push_back({what, block}); });
  std::stable_sort(all.begin(), all.end(),
                   [](const arrival& a, const arrival& b) { return a.what.origin < b.what.origin; });
  return all;
}

void make_room(const std::vector<arrival>& all, arrived_blocks& arrived) {
  std::size_t total = 0;
  for (const arrival& one : all) {
    arrived.sources.push_back(one.what.origin);
    arrived.bytes.push_back(one.what.bytes);
    total += one.what.bytes;
  }
  arrived.data.reset(new std::byte[total]);
}

}  // namespace

bool sparse_exchange::run(std::span<const outgoing_block> blocks, bool failed, arrived_blocks& arrived) {
  start(blocks, failed);
  for (bool moved = false; !progress(moved); moved = false) moved ? wait_.progressed() : wait_.idle();
  raise(failure());
  return take(arrived);
}

void sparse_exchange::start(std::span<const outgoing_block> blocks, bool failed) {
  parcels held(most_inside_);
  blocks_ = failed ? std::span<const outgoing_block>() : blocks;
  for (const outgoing_block& one : blocks_) held.add({over_.rank(), one.destination, one.bytes}, one.data);
  arrived_ = {};
  failure_.clear();
  under_way_ = 0;
  is_routing_ = true;
  router_.start(std::move(held), failed);
}

bool sparse_exchange::progress(bool& moved) {
  if (!is_routing_) return progress_straight(moved);
  if (!router_.progress(moved)) return false;
  is_routing_ = false;
  if (router_.failure()) failure_.note(router_.failure());
  if (!router_.refused()) begin_straight();
  return under_way_ == 0;
}

bool sparse_exchange::take(arrived_blocks& arrived) {
  arrived = std::move(arrived_);
  return !router_.refused();
}

// A rank sends nothing to itself, because its communicator may be one on which the program has messages of its own.
void sparse_exchange::begin_straight() {
  const parcels held = router_.take();
  const std::vector<arrival> all = by_source(held);
  make_room(all, arrived_);
  std::vector<const std::byte*> own;  // this rank's blocks for itself that no parcel holds
  for (const outgoing_block& one : blocks_) {
    if (held.holds(one.bytes)) continue;
    if (one.destination == over_.rank()) own.push_back(one.data);
    else over_.send(one.destination, for_blocks, one.data, one.bytes, under_way_++);
  }
  auto next = own.begin();
  std::byte* to = arrived_.data.get();
  for (const auto& [what, block] : all) {
    if (held.holds(what.bytes)) copy_bytes(to, block, what.bytes);
    else if (what.origin == over_.rank()) copy_bytes(to, *next++, what.bytes);
    else over_.receive(what.origin, for_blocks, to, what.bytes, under_way_++);
    to += what.bytes;
  }
}

bool sparse_exchange::progress_straight(bool& moved) {
  ended_.clear();
  over_.poll(ended_);
  moved = moved || !ended_.empty();
  under_way_ -= static_cast<int>(ended_.size());
  for (const ended_transfer& one : ended_) {
    if (one.failure) failure_.note(one.failure);
  }
  return under_way_ == 0;
}

}  // namespace shoal
