#include "execute/sparse_exchange.hpp"

#include <algorithm>

#include "transport/copy_bytes.hpp"

namespace shoal {

namespace {

struct arrival {
  parcels::label what;
  const std::byte* block;  // what the parcel holds of it
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

// Nothing is sent from this rank to itself: its communicator may be one on which the program has messages of its own.
bool sparse_exchange::run(std::span<const outgoing_block> blocks, bool failed, arrived_blocks& arrived) {
  parcels held(most_inside_);
  if (failed) blocks = {};
  for (const outgoing_block& one : blocks) held.add({over_.rank(), one.destination, one.bytes}, one.data);
  if (router_.deliver(held, failed)) return false;
  const std::vector<arrival> all = by_source(held);
  make_room(all, arrived);
  std::vector<const std::byte*> own;  // of those that no parcel holds
  int transfers = 0;
  for (const outgoing_block& one : blocks) {
    if (held.holds(one.bytes)) continue;
    if (one.destination == over_.rank()) own.push_back(one.data);
    else over_.send(one.destination, for_blocks, one.data, one.bytes, transfers++);
  }
  auto next = own.begin();
  std::byte* to = arrived.data.get();
  for (const auto& [what, block] : all) {
    if (held.holds(what.bytes)) copy_bytes(to, block, what.bytes);
    else if (what.origin == over_.rank()) copy_bytes(to, *next++, what.bytes);
    else over_.receive(what.origin, for_blocks, to, what.bytes, transfers++);
    to += what.bytes;
  }
  finish(transfers);
  return true;
}

void sparse_exchange::finish(int under_way) {
  first_failure failure;
  std::vector<ended_transfer> ended;
  while (under_way > 0) {
    ended.clear();
    over_.poll(ended);
    under_way -= static_cast<int>(ended.size());
    for (const ended_transfer& one : ended)
      if (one.failure) failure.note(one.failure);
    ended.empty() ? wait_.idle() : wait_.progressed();
  }
  raise(failure.what());
}

}  // namespace shoal
